#!/usr/bin/env bash
# The command line's manners: one clear error line and the right exit code for every wrong use,
# examples that work, outputs that are whole or not there.
set -uo pipefail
: "${BERTH:?the binary to test}"
berth=$(realpath "$BERTH")
source_dir=${BERTH_SOURCE_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
data=$(realpath -m "${BERTH_DATA_DIR:-$source_dir/../shared/data}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
checks=0 failures=0

complain() {
  failures=$((failures + 1))
  echo "FAILED: $*"
  sed 's/^/  stderr: /' err
}

# Runs berth with output in files out and err; its exit code in $code.
call() {
  checks=$((checks + 1))
  "$berth" "$@" > out 2> err < /dev/null
  code=$?
}

# refused CODE WORDS ARGS...: that exit code, nothing on stdout, one line on stderr with the words.
refused() {
  local want=$1 words=$2
  shift 2
  call "$@"
  [[ $code == "$want" ]] || complain "berth $*: exit $code, expected $want"
  [[ ! -s out ]] || complain "berth $*: writes on standard output"
  [[ $(wc -l < err) == 1 ]] || complain "berth $*: $(wc -l < err) lines on standard error"
  grep -qF -- "$words" err || complain "berth $*: the error does not say: $words"
}

works() {
  call "$@"
  [[ $code == 0 ]] || complain "berth $*: exit $code"
}

# Jobs of 1, 2 and 4 GPUs, more than 2x2 can run at once.
{
  echo "arrival_s,gpus,duration_s"
  for i in $(seq 200); do echo "$((i * 10)),$((1 << i % 3)),$((100 + i * 37 % 400))"; done
} > trace.csv
run=(simulate --trace trace.csv --cluster 2x2 --policy fifo)

# --- what is there ---------------------------------------------------------------------------------
works
grep -q '^Usage: ' out || complain "berth alone does not show its use"
works --version
[[ $(cat out) =~ ^berth\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || complain "--version prints '$(cat out)'"
works "${run[@]}"
works "${run[@]}" --json -
python3 -c 'import json; json.load(open("out"))' || complain "--json - is not JSON alone"

# --- settings: of the workload, or of the policy ----------------------------------------------------
refused 2 "workload 'paper' takes required_accuracy" "${run[@]}" --workload paper --set jobz=5
refused 2 "policy 'fifo' has no options, 'jobz' was set" "${run[@]}" --workload paper --set jobz=5
refused 2 "workload 'as-traced' takes none" "${run[@]}" --set jobs=5
refused 2 "policy 'fifo' has no options, 'jobs' was set" "${run[@]}" --workload measured --set jobs=5
refused 2 "expected a whole number from 1 to" "${run[@]}" --workload paper --set jobs=0
refused 2 "expected one of real, large" "${run[@]}" --workload paper --set span=week

# --- wrong names: the nearest right one, exit 2 -----------------------------------------------------
refused 2 "'simulate'" simulat
refused 2 "'simulate'" simlate --trace trace.csv
refused 2 "frobnicate" frobnicate
refused 2 "'--version'" --versoin
refused 2 "'--trace'" simulate --trcae trace.csv --cluster 2x2 --policy fifo
refused 2 "'fifo'" simulate --trace trace.csv --cluster 2x2 --policy fifp
refused 2 "'fifo-backfill'" simulate --trace trace.csv --cluster 2x2 --policy fifo-backfil
refused 2 "philly" simulate --trace trace.csv --cluster phily --policy fifo
refused 2 "trace.csv" simulate --trace trce.csv --cluster 2x2 --policy fifo
refused 2 "berth" simulate --trace trace.csv --format bert --cluster 2x2 --policy fifo
refused 2 "oracle" "${run[@]}" --predict orcale
refused 2 "exclusive" "${run[@]}" --sharing exclusiv
refused 2 "'fifo'" compare --trace trace.csv --cluster 2x2 --policies srtf,fifp
refused 2 "'stats'" trace stat --trace trace.csv
refused 2 "convert" trace
refused 2 "'predict'" interference predct
refused 2 "pairs.csv" interference evaluate --data pairs.csv

# --- wrong values ------------------------------------------------------------------------------------
refused 2 "--policy" simulate --trace trace.csv --cluster 2x2
refused 2 "--trace" simulate --cluster 2x2 --policy fifo
refused 2 "--limit" "${run[@]}" --limit 0
refused 2 "--limit" "${run[@]}" --limit 1e3
refused 2 "--limit" "${run[@]}" --limit 99999999999999999999
refused 2 "--seed" "${run[@]}" --seed -1
refused 2 "--load" "${run[@]}" --load 0
refused 2 "--load" "${run[@]}" --load nan
refused 2 "--set" "${run[@]}" --set novalue
refused 2 "nosuch" "${run[@]}" --set nosuch=1
refused 2 "a policy that does not run" "${run[@]}" --set tiresias.round_s=60
refused 2 "too many failures" "${run[@]}" --faults device:0.1:0.01 --load 1e-6
refused 2 "a file that --report writes itself" compare --trace trace.csv --cluster 2x2 \
  --policies fifo,sjf --report kept --json kept/runs.jsonl
refused 2 "a policy that does not run" "${run[@]}" --set .round_s=60
refused 2 "--cluster" simulate --trace trace.csv --cluster 0x8 --policy fifo
refused 2 "extra" "${run[@]}" extra
refused 2 "extra" "${run[@]}" -- extra
refused 2 "--seed is given 2 times" "${run[@]}" --seed 1 --seed 2
refused 2 "--seed" compare --trace trace.csv --cluster 2x2 --policies fifo --seeds 2 \
  --seed 9223372036854775807
refused 2 "--json needs a value" "${run[@]}" --json
for option in --trace --cluster --policy --json --events --timeline --per-job --set --limit --predict; do
  refused 2 "$option needs a value" simulate "$option" ""
done
: > empty.csv
refused 2 "empty.csv" simulate --trace empty.csv --cluster 2x2 --policy fifo
echo "gpus,duration_s" > no_rows.csv
refused 2 "no_rows.csv" simulate --trace no_rows.csv --cluster 2x2 --policy fifo
head -c 3000 /dev/zero > zeros.csv
refused 2 "zeros.csv" simulate --trace zeros.csv --cluster 2x2 --policy fifo
printf 'a\x1b[31mb\nline two' > $'odd\x1b[31mname.csv'
refused 2 'odd\x1b' simulate --trace $'odd\x1b[31mname.csv' --cluster 2x2 --policy fifo

refused 2 "a description of a cluster" simulate --trace trace.csv --cluster empty.csv --policy fifo
works "${run[@]}" --predict history --per-job predicted.csv
head -n 1 predicted.csv | grep -q ",predicted_s$" || complain "--per-job lacks predicted_s"
refused 2 "--predict" simulate --trace no.csv --cluster 2x2 --policy fifo --predict guess
refused 2 "arrivals are from 0 to 1990 s" "${run[@]}" --from 1991
refused 2 "arrivals are from 0 to 1990 s" trace stats --trace trace.csv --from 30d
refused 2 "--to" "${run[@]}" --to 0

# --- one of a thing is not "1 things" ------------------------------------------------------------------
printf 'arrival_s,gpus,duration_s\n0,1,60\n1,x,60\n2,64,60\n' > few.csv
works simulate --trace few.csv --cluster 1x1 --policy fifo
cat out err > all
works trace convert --trace few.csv --limit 1 --out one.csv
cat out err >> all
works compare --trace few.csv --cluster 1x1 --policies fifo --bars
grep -q "^fifo  █" out || complain "--bars draws nothing"
cat out err >> all
works trace generate --jobs 1 --out one.csv
cat out err >> all
grep -E '(^|[^0-9.,])1 (servers|GPUs|jobs|rows|policies|runs|active rounds)' all > err &&
  complain "a plural of one"

# --- outputs: whole, or an error and nothing -----------------------------------------------------------
mkdir folder
refused 1 "folder" "${run[@]}" --events folder
refused 1 "absent" "${run[@]}" --per-job absent/x.csv
ln -s /dev/full full # a link, so that a program that renames over its output harms nothing
for option in --events --timeline --per-job --json; do
  refused 1 "full" "${run[@]}" "$option" full
done
refused 1 "full" compare --trace trace.csv --cluster 2x2 --policies fifo --json full
refused 1 "full" trace convert --trace trace.csv --out full
refused 1 "full" trace generate --jobs 100 --out full
refused 2 "standard output" trace generate --jobs 100 --out - --json -
refused 1 "absent" trace generate --jobs 100 --out absent/x.csv
[[ -c /dev/full ]] || complain "/dev/full was replaced"
# Names that are not UTF-8 stay apart in JSON.
printf 'id,arrival_s,gpus,duration_s,vc\n1,0,1,60,M\xfcller\n2,0,1,60,M\xf6ller\n' > latin.csv
works trace stats --trace latin.csv --json -
[[ $(grep -cE '"M\\\\xf[6c]ller"' out) == 2 ]] || complain "two names became one in JSON"
echo "kept" > before.csv
refused 2 "fifo" simulate --trace trace.csv --cluster 2x2 --policy fifp --events before.csv
[[ $(cat before.csv) == kept ]] || complain "a refused run touched its output"
works "${run[@]}" --events before.csv --per-job jobs.csv
[[ $(head -1 before.csv) == time_us,* ]] || complain "--events did not replace its file"
[[ $(wc -l < jobs.csv) == 201 ]] || complain "--per-job has $(wc -l < jobs.csv) lines"
[[ -z $(find . -name '*tmp*') ]] || complain "left behind: $(find . -name '*tmp*')"

# Two outputs in one place, under whatever names.
refused 2 "the same file as" "${run[@]}" --json both --per-job ./folder/../both
refused 2 "the same file as" "${run[@]}" --json - --events -
works "${run[@]}" --per-job -
[[ $(wc -l < out) == 201 ]] || complain "--per-job - is not alone on standard output"

# A place that cannot be written is told at once, not after the run: the trace is not there either.
for option in --events --timeline --per-job --json; do
  refused 1 "absent/x" simulate --trace no.csv --cluster 2x2 --policy fifo "$option" absent/x
done
refused 1 "absent/x" compare --trace no.csv --cluster 2x2 --policies fifo --json absent/x

# Started without standard files: no output gets their numbers, so nothing is printed into a file.
checks=$((checks + 1))
"$berth" "${run[@]}" --json bare.json --events bare.csv <&- >&- 2>&-
python3 -c 'import json; json.load(open("bare.json"))' 2> err ||
  complain "--json without standard files is not JSON alone"
tail -1 bare.csv | grep -q '^[0-9]*,finish,' || complain "--events without standard files"

# Standard output that is full or closed: said, exit 1.
for arguments in "--version" "--help" "simulate --help" "${run[*]}" "${run[*]} --json -"; do
  for target in /dev/full closed; do
    checks=$((checks + 1))
    # shellcheck disable=SC2086  # words on purpose
    if [[ $target == closed ]]; then
      "$berth" $arguments >&- 2> err < /dev/null
    else
      "$berth" $arguments > /dev/full 2> err < /dev/null
    fi
    code=$?
    [[ $code == 1 && $(wc -l < err) == 1 ]] ||
      complain "berth $arguments, standard output $target: exit $code, $(wc -l < err) error lines"
  done
done
# Standard error that is full or closed changes no exit code.
for want in 2 0; do
  arguments="${run[*]}"
  [[ $want == 0 ]] || arguments=nonsense
  checks=$((checks + 2))
  # shellcheck disable=SC2086  # words on purpose
  "$berth" $arguments > out 2> /dev/full < /dev/null
  [[ $? == "$want" ]] || complain "berth $arguments, standard error full: not exit $want"
  # shellcheck disable=SC2086
  "$berth" $arguments > out 2>&- < /dev/null
  [[ $? == "$want" ]] || complain "berth $arguments, standard error closed: not exit $want"
done
# A reader that goes away ends the run without a word, as for any program in a pipe.
checks=$((checks + 1))
"$berth" simulate --help 2> err < /dev/null | true
code=${PIPESTATUS[0]}
[[ $code == 0 || $code == 141 || $code == 1 ]] || complain "a closed pipe: exit $code"

# --- Ctrl-C: what is known so far, exit 130 -------------------------------------------------------------
# --check makes the run last; if Ctrl-C comes before it has begun, a later one will do.
works trace generate --jobs 20000 --out many.csv
checks=$((checks + 1))
for delay in 0.3 1 3 9 27; do
  timeout --preserve-status -s INT "$delay" "$berth" simulate --trace many.csv --cluster 1300x1 \
    --policy srtf --check --json - > out 2> err < /dev/null
  code=$?
  [[ -s out || $code != 130 ]] && break
done
[[ $code == 130 ]] || complain "Ctrl-C: exit $code, expected 130"
python3 -c '
import json
run = json.load(open("out"))
assert run["interrupted"] and 0 < run["finished"] and 0 < run["unfinished"], run
assert run["jobs"] == 20000 == run["finished"] + run["unfinished"] + run["never_fit"], run
' || complain "Ctrl-C: not the figures of the run so far"

# Killed while it writes: nothing is left beside the output.
checks=$((checks + 1))
mkdir killed
for delay in 0.1 0.4 1 2; do
  {
    timeout --preserve-status -s KILL "$delay" "$berth" trace generate --jobs 1000000 \
      --out killed/t.csv.xz > out < /dev/null
  } 2> err # with the shell's own "Killed"
done
[[ -z $(find killed -name '.*tmp' -o -name '*.tmp-*') ]] ||
  ! (cd killed && python3 -c 'import os; os.open(".", os.O_TMPFILE | os.O_WRONLY)' 2> /dev/null) ||
  complain "killed, left behind: $(ls -A killed)"

# Started with Ctrl-C ignored, as by nohup or a shell's &: it stays ignored.
checks=$((checks + 1))
(
  trap '' INT
  exec "$berth" simulate --trace many.csv --cluster 1300x1 --policy fifo-backfill --check \
    --json ignored.json > out 2> err < /dev/null
) &
running=$!
for _ in $(seq 20); do
  sleep 0.05
  kill -INT "$running" 2> /dev/null || break
done
wait "$running"
code=$?
[[ $code == 0 && ! -s err ]] || complain "Ctrl-C ignored: exit $code"

# compare: the policies that are done, in the form asked for; each run that is listed is whole.
checks=$((checks + 1))
for delay in 1 3 9 27 60; do
  rm -f known.json
  timeout --preserve-status -s INT "$delay" "$berth" compare --trace many.csv --cluster 1300x1 \
    --policies fifo,srtf --seeds 30 --check --json known.json > out 2> err < /dev/null
  code=$?
  [[ $code == 130 && -s known.json ]] && break
done
[[ $code == 130 ]] || complain "Ctrl-C in compare: exit $code, expected 130"
python3 -c '
import json
known = json.load(open("known.json"))
assert known["interrupted"] and known["baseline"] == "fifo", known
assert len(known["runs"]) < 60 and not any(run["interrupted"] for run in known["runs"]), known
' || complain "Ctrl-C in compare: not the runs that are done"

# --- help: every command has an example, and the example works -------------------------------------------
subcommands() { sed -n '/^Subcommands:/,$p' out | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'; }
# The first file that an example reads and that is not here, or nothing.
missing_file() {
  grep -oE '[a-zA-Z0-9_./-]+\.(csv|yaml|json|log)(\.xz)?' <<< "$1" | while read -r file; do
    [[ -e $file || $1 == *"--out $file"* || $1 == *" fit "*"--model $file"* ]] || echo "$file"
  done | head -1
}
works simulate --help
grep -q '^Usage: berth simulate' out || complain "simulate --help does not show its whole name"
grep -q 'fifo-backfill, ' out || complain "simulate --help does not list the policies"
works --help
mapfile -t top < <(subcommands)
[[ ${#top[@]} -gt 0 ]] || complain "berth --help names no command"
paths=()
for name in "${top[@]}"; do
  works "$name" --help
  mapfile -t below < <(subcommands)
  if [[ ${#below[@]} == 0 ]]; then paths+=("$name"); fi
  for leaf in "${below[@]}"; do paths+=("$name $leaf"); done
done
# Six jobs in pairs: the slow-down grows with what both take of the device.
{
  echo "device,subject,corunners,solo.sm,co.sm,alone,shared"
  for a in 1 2 3 4 5 6; do
    for b in 1 2 3 4 5 6; do
      [[ $a == "$b" ]] || echo "v100,job$a,job$b,0.$a,0.$b,1.0,1.$((a * b + a))"
    done
  done
} > pairs.csv
cp pairs.csv candidates.csv
philly=$data/traces/philly_rfold/philly_trace.csv.xz
[[ -r $philly ]] && ln -s "$philly" philly_trace.csv.xz
for path in "${paths[@]}"; do
  # shellcheck disable=SC2086  # "trace stats" is two words
  works $path --help
  example=$(sed -n '/^Example:/{n;s/^  //;p}' out)
  [[ $example == berth\ * ]] || { complain "berth $path --help has no example"; continue; }
  # Those that need a scheduler, or are one, are tried in test_daemon.py.
  if grep -qE -e '--socket|scheduler' out; then
    echo "not run (needs a scheduler): $example"
    continue
  fi
  missing=$(missing_file "$example")
  if [[ -n $missing ]]; then
    echo "not run (needs $missing): $example"
    continue
  fi
  checks=$((checks + 1))
  PATH="$(dirname "$berth"):$PATH" bash -c "$example" > out 2> err < /dev/null ||
    complain "the example of berth $path: $example"
done

echo "$checks checks, $failures failures"
[[ $failures == 0 ]]
