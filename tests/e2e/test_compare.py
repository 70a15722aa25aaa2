#!/usr/bin/env python3
"""berth compare: two sharing tables of the same jobs, intervals, and a report that goes on where an
interrupted one stopped, whatever happened to its file."""
import json
import math
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

BERTH = os.environ["BERTH"]
SOURCE = pathlib.Path(os.environ.get("BERTH_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
TIMES = {"cpu_s", "wall_s", "round_mean_us", "round_p99_us", "peak_rss_mib"}
T_975 = {1: 12.7062, 2: 4.30265, 3: 3.18245, 4: 2.77645}
problems = []


def check(right, what):
    if not right:
        problems.append(what)


def berth(*arguments, code=0, **options):
    run = subprocess.run([BERTH, *map(str, arguments)], capture_output=True, text=True, check=False,
                         stdin=subprocess.DEVNULL, **options)
    check(run.returncode == code, f"berth {' '.join(map(str, arguments))}: exit {run.returncode}, "
                                  f"expected {code}: {run.stderr}")
    return run


def without_times(value):
    """What must be the same for the same seed."""
    if isinstance(value, dict):
        return {key: without_times(v) for key, v in value.items() if key not in TIMES}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def table_text(run):
    """The tables without their last column, which is CPU time."""
    return [re.sub(r" +[0-9.]+ s$", "", line) for line in run.stdout.splitlines()]


def compare(folder, *more, code=0, report=None, **options):
    out = folder / "out.json"
    out.unlink(missing_ok=True)
    arguments = ["compare", "--trace", folder / "trace.csv", "--cluster", "mlfs-real", "--workload",
                 "paper", "--set", "jobs=120", "--policies", "fifo,srtf,sjf", "--seeds", "3",
                 "--predict", "noisy:0.5", "--json", out, *more]
    if report:
        arguments += ["--report", report]
    run = berth(*arguments, code=code, **options)
    return run, json.loads(out.read_text()) if out.exists() else None


def check_tables(folder):
    run, both = compare(folder)
    names = [(table["name"], table["sharing"]) for table in both["tables"]]
    check(names == [("as published", "published"), ("all sharing", "shared")], f"tables: {names}")
    check("as published: " in run.stdout and "all sharing: " in run.stdout, "titles of the tables")
    check("noisy:0.5" in run.stdout and "offered load" in run.stdout, "conditions of the tables")
    keys = [(r["policy"], r["sharing"], r["seed"]) for r in both["runs"]]
    check(len(keys) == len(set(keys)) == 18, f"runs: {keys}")
    check(both["summary"] == both["tables"][0]["summary"], "summary is the first table's")
    check(both["paired"] == both["tables"][0]["paired"], "paired is the first table's")
    _, shared = compare(folder, "--sharing", "shared")
    check(shared["tables"][0]["summary"] == both["tables"][1]["summary"], "one table of two alone")
    of = {key: r for key, r in zip(keys, both["runs"])}
    for table, sharing in ((both["tables"][0], "exclusive"), (both["tables"][1], "shared")):
        for rival in ("srtf", "sjf"):
            for metric, figure in table["paired"][rival].items():
                mine = [of["fifo", sharing, s][metric] for s in (1, 2, 3)]
                its = [of[rival, sharing, s][metric] for s in (1, 2, 3)]
                gaps = [b - a for a, b in zip(mine, its)]
                mean = sum(gaps) / 3
                half = T_975[2] * math.sqrt(sum((g - mean) ** 2 for g in gaps) / 2 / 3)
                scale = max(map(abs, mine + its)) + 1
                for name, expected in (("mean_difference", mean), ("low95", mean - half),
                                       ("high95", mean + half)):
                    check(abs(figure[name] - expected) < 1e-5 * scale, f"{rival} {metric} {name}")
                lower = metric not in ("deadline_ratio", "urgent_deadline_ratio", "mean_accuracy",
                                       "accuracy_ratio", "gpu_utilisation")
                gain = (sum(its) - sum(mine) if lower else sum(mine) - sum(its)) / sum(its) \
                    if sum(its) else None
                check(figure["gain"] is None if gain is None else abs(figure["gain"] - gain) < 1e-9,
                      f"{rival} {metric} gain")


def check_one_table(folder):
    """As-traced jobs on whole GPUs: one table, which says so; a trace with shares: two."""
    trace = folder / "whole.csv"
    trace.write_text("arrival_s,gpus,duration_s\n" +
                     "".join(f"{i * 10},{1 + i % 3},100\n" for i in range(50)))
    run = berth("compare", "--trace", trace, "--cluster", "1x4", "--policies", "fifo,sjf", "--seeds",
                2, "--json", folder / "one.json")
    one = json.loads((folder / "one.json").read_text())
    check(len(one["tables"]) == 1 and "sharing would change nothing" in run.stderr, "one table")
    figure = one["paired"]["sjf"]["mean_jct_s"]
    check(figure["low95"] is None and figure["high95"] is None, "an interval of seeds all the same")
    check("all the same" in run.stdout, "seeds that are the same are not told")
    shares = folder / "shares.csv"
    # 1.5 GPUs cannot be shared: the job is left out of both tables, which have the same jobs.
    shares.write_text("arrival_s,gpus,duration_s\n0,0.5,100\n0,0.5,100\n0,1.5,10\n")
    for more, tables in (([], 2), (["--sharing", "exclusive"], 1), (["--sharing", "both"], 2)):
        berth("compare", "--trace", shares, "--cluster", "1x1", "--policies", "fifo", "--json",
              folder / "shares.json", *more)
        got = json.loads((folder / "shares.json").read_text())
        check(len(got["tables"]) == tables, f"shares {more}: {len(got['tables'])} tables")
        jcts = {r["sharing"]: r["mean_jct_s"] for r in got["runs"]}
        check(jcts.get("exclusive", 150) == 150 and jcts.get("shared", 100) == 100, f"{more} {jcts}")
        check(len({r["jobs"] - r["never_fit"] for r in got["runs"]}) == 1, f"{more}: other jobs")


def check_resumed(folder):
    whole_run, whole = compare(folder, report=folder / "whole")
    store = folder / "whole" / "runs.jsonl"
    check(os.stat(store).st_mode & 0o777 == 0o600, "runs.jsonl is not its owner's alone")
    lines = store.read_bytes().splitlines(keepends=True)
    check(len(lines) == 18, f"{len(lines)} lines of 18 runs")

    # What is left after a kill at any moment: some lines, the last perhaps torn.
    rng = random.Random(1)
    for cut in [0, 1, 9, 17] + [rng.randrange(1, 17) for _ in range(3)]:
        report = folder / f"cut{cut}"
        report.mkdir(exist_ok=True)
        torn = lines[cut][:rng.randrange(1, len(lines[cut]) - 1)] if cut % 2 else b""
        (report / "runs.jsonl").write_bytes(b"".join(lines[:cut]) + torn)
        run, got = compare(folder, report=report)
        check(without_times(got) == without_times(whole), f"resumed after {cut}: other figures")
        check(table_text(run) == table_text(whole_run), f"resumed after {cut}: another table")
        check(not cut or f"{cut} of 18 runs taken from" in run.stderr, f"{cut}: {run.stderr}")
        check(("1 line of" in run.stderr) == bool(torn), f"{cut}: torn line: {run.stderr}")
        again, third = compare(folder, report=report)
        check("18 of 18 runs taken from" in again.stderr, f"{cut}: not all kept: {again.stderr}")
        check(third == got, f"{cut}: kept runs give other figures, times included")

    # Something else: nothing matches, nothing is lost.
    before = store.read_bytes()
    for more in (["--load", "1.1"], ["--seed", "7"], ["--set", "use_sigma=0.1"]):
        run, _ = compare(folder, *more, report=folder / "whole")
        check("taken from" not in run.stderr, f"{more}: {run.stderr}")
    check(store.read_bytes().startswith(before), "runs of another comparison were not kept")
    run, got = compare(folder, report=folder / "whole")
    check("18 of 18" in run.stderr and got == whole, "its own runs are not found any more")
    with open(folder / "trace.csv", "a", encoding="utf-8") as trace:
        trace.write("99999999,1,10\n")
    run, _ = compare(folder, report=folder / "whole")
    check("taken from" not in run.stderr, "runs of another trace were taken")


def check_killed(folder):
    """kill -9 while it runs; then the same command gives what an uninterrupted one gives."""
    report = folder / "killed"
    arguments = [BERTH, "compare", "--trace", folder / "trace.csv", "--cluster", "mlfs-real",
                 "--workload", "paper", "--set", "jobs=2500", "--policies", "fifo,srtf,sjf",
                 "--seeds", "6", "--json", folder / "killed.json"]
    subprocess.run(arguments, check=True, capture_output=True)
    whole = json.loads((folder / "killed.json").read_text())
    for _ in range(3):
        with subprocess.Popen([*arguments, "--report", report], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            store = report / "runs.jsonl"
            had = store.stat().st_size if store.exists() else 0
            while process.poll() is None:
                if store.exists() and store.stat().st_size > had:
                    process.send_signal(signal.SIGKILL)
                    break
                time.sleep(0.002)
    subprocess.run([*arguments, "--report", report], check=True, capture_output=True)
    got = json.loads((folder / "killed.json").read_text())
    check(without_times(got) == without_times(whole), "after kill -9: other figures")


def check_refusals(folder):
    """A folder that cannot be, a trace that cannot be read again, a disk that is full."""
    (folder / "file").write_text("kept")
    run, _ = compare(folder, report=folder / "file", code=1)
    check("not a folder" in run.stderr and run.stderr.count("\n") == 1, run.stderr)
    run, _ = compare(folder, report=folder / "absent" / "x", code=1)
    check("absent" in run.stderr and run.stderr.count("\n") == 1, run.stderr)
    with open(folder / "trace.csv", "rb") as trace:
        run = subprocess.run([BERTH, "compare", "--trace", "-", "--cluster", "1x8", "--policies",
                              "fifo", "--report", folder / "piped"], stdin=trace,
                             capture_output=True, text=True, check=False)
    check(run.returncode == 2 and "read again" in run.stderr, f"from a pipe: {run}")
    check(not (folder / "piped").exists(), "a refused run made its folder")

    def small_disk():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    report = folder / "full"
    run, _ = compare(folder, report=report, code=1, preexec_fn=small_disk)
    check("runs.jsonl" in run.stderr and run.stderr.count("\n") == 1, f"full disk: {run.stderr}")
    store = (report / "runs.jsonl").read_bytes()
    check(store.endswith(b"\n") and all(json.loads(line) for line in store.splitlines()),
          "a full disk left half a line")
    check(not (report / "report.html").exists(), "a page of half a comparison")
    _, whole = compare(folder)
    run, got = compare(folder, report=report)
    check("taken from" in run.stderr and without_times(got) == without_times(whole), "after it")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        berth("trace", "generate", "--jobs", 2000, "--seed", 1, "--out", folder / "trace.csv")
        for part in (check_tables, check_one_table, check_killed, check_refusals, check_resumed):
            part(folder)
    print("\n".join(problems) or "compare: as it should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
