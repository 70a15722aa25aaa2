#!/usr/bin/env python3
"""berth simulate --timeline: valid JSON that tells the same as the event log and the lines a job."""
import collections
import csv
import json
import os
import subprocess
import tempfile

BERTH = os.environ["BERTH"]


def berth(*args):
    subprocess.run([BERTH, *args], check=True, stdout=subprocess.DEVNULL)


def check_threads(slices):
    """Slices of one thread follow each other."""
    by_thread = collections.defaultdict(list)
    for event in slices:
        by_thread[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for thread, spans in by_thread.items():
        spans.sort()
        for (_, end), (start, _) in zip(spans, spans[1:]):
            assert end <= start, f"two slices of thread {thread} overlap at {start} us"


def check_run(policy, trace, *more):
    berth("simulate", "--trace", trace, "--cluster", "4x4", "--policy", policy, "--timeline", "t.json",
          "--events", "events.csv", "--per-job", "jobs.csv", "--json", "run.json", *more)
    with open("t.json", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    counts = collections.Counter(event["ph"] for event in events)
    assert set(counts) == {"M", "C", "X"}, counts
    assert all(isinstance(event[key], int) for event in slices for key in ("ts", "dur", "pid", "tid"))
    check_threads(slices)

    named = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
    assert {(event["pid"], event["tid"]) for event in slices} <= named, "a thread has no name"

    # Each job's slices last as long as it ran, once a task, and there is one a task and start.
    ran = collections.Counter()
    tasks = collections.defaultdict(set)
    for event in slices:
        ran[event["args"]["job"]] += event["dur"]
        tasks[event["args"]["job"]].add(event["args"]["task"])
    with open("jobs.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            job = int(row["index"])
            # To the microsecond; the file writes seconds with six digits.
            run_us = int(row["run_s"].replace(".", ""))
            assert ran[job] == run_us * max(1, len(tasks[job])), f"job {job}: {ran[job]} us"
    with open("events.csv", encoding="utf-8") as file:
        log = list(csv.DictReader(file))
    starts = sum(1 + row["devices"].count("+") for row in log if row["event"] == "start")
    assert len(slices) == starts, f"{len(slices)} slices, {starts} starts of tasks"
    with open("run.json", encoding="utf-8") as file:
        run = json.load(file)
    assert sum(event["args"]["end"] == "finish" and event["args"]["task"] == 0
               for event in slices) == run["finished"]

    # Counters: what waits at the end never fits, and no GPU is busy.
    last = {event["name"]: event["args"] for event in events if event["ph"] == "C"}
    assert last == {"jobs pending": {"jobs": run["never_fit"]}, "GPUs busy": {"GPUs": 0}}, last
    busy = max(event["args"]["GPUs"] for event in events if event["name"] == "GPUs busy")
    assert 1 < busy <= 16, busy
    return slices


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        berth("trace", "generate", "--jobs", "400", "--gpus", "16", "--load", "1.2", "--seed", "5",
              "--out", "trace.csv")
        for policy in ("fifo", "srtf"):
            slices = check_run(policy, "trace.csv")
        assert any(event["args"]["end"] == "preempt" for event in slices), "srtf preempted nobody"
        # Shares of GPUs, in threads of their own; one job that fits nowhere; one without a GPU.
        with open("shares.csv", "w", encoding="utf-8") as file:
            file.write("arrival_s,gpus,duration_s\n0,99,10\n0,0,10\n")
            file.writelines(f"{k // 3},{(0.18, 0.4, 1)[k % 3]},{5 + k % 7}\n" for k in range(150))
        slices = check_run("fifo", "shares.csv", "--sharing", "shared")
        assert any(event["tid"] % 1001 > 1 for event in slices), "nothing shared a GPU"


if __name__ == "__main__":
    main()
