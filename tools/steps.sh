# Sourced by tools/test, lint and fuzz: runs named steps, goes on after one that fails, and ends with
# "N passed, N failed[, N skipped]" alone on a line, which CI reads.
# shellcheck shell=bash
passed=0 failed=0 skipped=0

# step NAME COMMAND...: one check. Its output is shown only if it fails.
step() {
  local name=$1 log status=0
  shift
  log=$(mktemp)
  "$@" > "$log" 2>&1 < /dev/null || status=$?
  if [[ $status == 0 ]]; then
    passed=$((passed + 1))
    echo "ok       $name"
  else
    failed=$((failed + 1))
    cat "$log"
    echo "FAILED   $name (exit $status)"
  fi
  rm -f "$log"
}

# The closing line; or, within a larger run, the counts for that run. Returns 1 if anything failed.
finish() {
  if [[ -n ${BERTH_COUNTS:-} ]]; then
    echo "$passed $failed $skipped" >> "$BERTH_COUNTS"
  else
    echo
    [[ $skipped == 0 ]] || local note=", $skipped skipped"
    echo "$passed passed, $failed failed${note:-}"
  fi
  [[ $failed == 0 ]]
}
