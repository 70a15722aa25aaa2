#!/usr/bin/env bash
# The commands of docs/guides/replay.md, on a small history: they run as the guide writes them, and
# read what is there.
set -euo pipefail
root=${BERTH_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
berth=${BERTH:-$root/build/release/berth}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$root/tests/e2e/data/sacct_sample.txt" "$work/sacct.txt"
cp "$root/tests/e2e/data/scontrol_nodes.txt" "$work/nodes.txt"
cd "$work"
mkdir bin
ln -s "$berth" bin/berth
PATH=$work/bin:$PATH

commands=0
while read -r command; do
  echo "\$ $command"
  bash -euo pipefail -c "$command"
  commands=$((commands + 1))
done < <(sed -n 's/^    \(berth .*\)$/\1/p' "$root/docs/guides/replay.md")
[[ $commands -eq 3 ]] || { echo "expected three berth commands in the guide, found $commands"; exit 1; }
grep -q '<svg' history.html
[[ $(wc -l < jobs.csv) -eq 68 ]] || { echo "expected a header and 67 jobs in jobs.csv"; exit 1; }

berth trace stats --trace sacct.txt --json stats.json > /dev/null
python3 - <<'PYTHON'
import json
stats = json.load(open("stats.json"))
assert stats["format"] == "sacct", stats["format"]
assert stats["jobs"] == 67, stats["jobs"]  # 60, 6 of an array, one that was requeued
assert stats["rejected_by_reason"] == {"never started": 1, "still running": 1}, stats
PYTHON
