#!/usr/bin/env bash
# The same workload gives the same event log, byte for byte, with g++ and clang++, -O0 and -O3.
set -euo pipefail
source_dir=${BERTH_SOURCE_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
command -v clang++ > /dev/null || { echo "skipped: no clang++"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# event_log is a program over the engine alone; ccache makes all but the first run quick. Warnings are
# not looked at here (-w): g++ -O3 has false ones in fmt.
build() { # COMPILER LEVEL
  local dir=$work/$1$2
  cmake -S "$source_dir" -B "$dir" -G Ninja -DCMAKE_CXX_COMPILER="$1" -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_CXX_FLAGS="$2 -w" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache > "$dir.log"
  cmake --build "$dir" --target event_log -j "$(nproc)" >> "$dir.log" || { cat "$dir.log"; exit 1; }
  "$dir/tests/event_log" > "$dir.csv"
}

for compiler in g++ clang++; do
  for level in -O0 -O3; do build "$compiler" "$level"; done
done

events=$(grep -c '^[0-9]' "$work/g++-O0.csv")
[[ $events -gt 10000 ]] || { echo "only $events events"; exit 1; }
for other in g++-O3 clang++-O0 clang++-O3; do
  cmp "$work/g++-O0.csv" "$work/$other.csv"
done
echo "$events events, the same in 4 builds: $(sha256sum < "$work/g++-O0.csv")"
