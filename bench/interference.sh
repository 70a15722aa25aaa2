#!/usr/bin/env bash
# The yardstick of interference prediction: bench/interference.sh [DATA] prints, for each data set
# and kind of folds, the error and coverage of the selected model, what it consists of, and the CPU
# time. DATA: the folder with the data sets (default: $BERTH_DATA_DIR, or ../shared/data).
set -euo pipefail
cd "$(dirname "$0")/.."
berth=${BERTH:-build/release/berth}
data=${1:-${BERTH_DATA_DIR:-../shared/data}}/interference/berth_csv
printf '%-16s %-5s %8s %9s %7s  %s\n' data folds MAE coverage 'CPU s' model
for set in gavel2019_v100 gavel_k80 gavel_p100 gavel_v100; do
  for kind in pair job; do
    folds=job
    [[ $kind == pair ]] && folds=$data/$set.folds.csv
    "$berth" interference evaluate --data "$data/$set.csv" --folds "$folds" --mode solo \
      --selected-only --json - 2>/dev/null |
      python3 -c '
import json, sys
e = json.load(sys.stdin)
m = e["selected_model"]
print("%-16s %-5s %8.4f %9.3f %7.0f  %s"
      % (sys.argv[1], sys.argv[2], m["mae"], m["coverage"], e["cpu_s"], m["name"]))' "$set" "$kind"
  done
done
