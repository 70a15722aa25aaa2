#!/usr/bin/env bash
# The same workload gives the same event log, byte for byte, with g++ and clang++, -O0 and -O3.
set -euo pipefail
source_dir=${BERTH_SOURCE_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
command -v clang++ > /dev/null || { echo "skipped: no clang++"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# event_log is a program over the engine alone. A dozen sources are compiled as one, since most of a
# build without optimisation is the reading of headers; so no two may give a name of their own
# namespace to different things. Warnings are not looked at here (-w): g++ -O3 has false ones in fmt.
build() { # COMPILER LEVEL
  local dir=$work/$1$2
  cmake -S "$source_dir" -B "$dir" -G Ninja -DCMAKE_CXX_COMPILER="$1" -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_CXX_FLAGS="$2 -w" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 > "$dir.log"
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
