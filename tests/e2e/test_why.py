#!/usr/bin/env python3
"""berth simulate --why: what it says of a job is what the event log says, at every time, under every
policy; and wrong questions are told what would be right."""
import csv
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BERTH = os.environ["BERTH"]
problems = []


def check(right, what):
    if not right:
        problems.append(what)


def simulate(folder, *more, trace="trace.csv", cluster="3x4", policy="fifo", code=0):
    run = subprocess.run([BERTH, "simulate", "--trace", folder / trace, "--cluster", cluster,
                          "--policy", policy, *more], capture_output=True, text=True, check=False,
                         stdin=subprocess.DEVNULL)
    check(run.returncode == code, f"{policy} {more}: exit {run.returncode}: {run.stderr}")
    return run


def check_wrong_questions(folder):
    (folder / "names.csv").write_text(
        "job_id,arrival_s,gpus,duration_s\nalpha,0,4,100\nalpine@5,10,4,100\nbeta,20,4,100\n"
        "7,40,4,100\n")
    for question, words in (("alpa", ["'alpha'", "0 to 3"]), ("alpha@never", ["--why", "never"]),
                            ("5", ["0 to 3"]), ("-1", ["0 to 3"]),
                            ("alpha@-5", ["-5"]), ("x\x1b[31m", ["\\x1b"])):
        run = simulate(folder, "--why", question, trace="names.csv", code=2)
        check(run.stdout == "" and run.stderr.count("\n") == 1, f"{question}: not one error alone")
        for word in words:
            check(word in run.stderr, f"{question}: the error does not say {word}: {run.stderr}")
    for question, expected in (("alpine@5", "index 1"), ("alpine@5@15", "at 15 s"),
                               ("alpine@5@0", "had not arrived"), ("7", "index 3"),
                               ("2", "job beta (index 2)"), ("alpha@1m", "runs on 4 GPUs of s0"),
                               ("alpha@100", "finished"), ("alpha@99.999999", "runs on")):
        run = simulate(folder, "--why", question, trace="names.csv")
        check(expected in run.stdout, f"{question}: does not say {expected}: {run.stdout}")


def check_history(folder, policy, jobs):
    """Spans without gaps, whose changes are the events of the log, and whose waits have reasons."""
    simulate(folder, "--events", folder / "events.csv", policy=policy)
    events = {}
    with open(folder / "events.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            events.setdefault(int(row["id"]), []).append((int(row["time_us"]), row["event"]))
    names = {"arrive": "waits", "preempt": "waits", "start": "runs", "finish": "ended"}
    for job in jobs:
        simulate(folder, "--why", str(job), "--json", folder / "why.json", policy=policy)
        why = json.loads((folder / "why.json").read_text())["why"]
        history = why["history"]
        where = f"{policy}, job {job}"
        check(why["index"] == job and why["at_s"] is None, f"{where}: {why}")
        for one, following in zip(history, history[1:]):
            check(one["until_s"] == following["since_s"], f"{where}: a gap")
        check(history[-1]["state"] == "ended" and history[-1]["until_s"] is None, f"{where}: the end")
        for span in history:
            if span["state"] == "waits":
                check(span["reason"] not in ("none", "not-considered"), f"{where}: no reason: {span}")
                if span["reason"] == "behind-head":
                    check(span["behind"] and span["behind"]["index"] != job, f"{where}: {span}")
        changes = [(round(span["since_s"] * 1e6), span["state"])
                   for before, span in zip([None, *history], history)
                   if before is None or before["state"] != span["state"]]
        wanted = []
        for at, event in events[job]:
            if event not in names:
                continue
            if wanted and wanted[-1][0] == at and event == "start" and wanted[-1][2] == "arrive":
                wanted.pop()  # started when it arrived: it never waited
            wanted.append((at, names[event], event))
        check(changes == [(at, state) for at, state, _ in wanted],
              f"{where}: {changes[:6]}, the log has {wanted[:6]}")
        # One instant of it is the same as the span of the whole.
        for span in history[:: max(1, len(history) // 4)]:
            if span["until_s"] is not None and span["until_s"] > span["since_s"]:
                at = (span["since_s"] + span["until_s"]) / 2
                simulate(folder, "--why", f"{job}@{at:.6f}", "--json", folder / "at.json",
                         policy=policy)
                got = json.loads((folder / "at.json").read_text())["why"]["history"]
                check(got == [span], f"{where}: at {at} s {got}, in all {span}")


def three_jobs(folder):
    (folder / "three.csv").write_text(
        "job_id,arrival_s,gpus,duration_s\nbig,0,6,3600\nwide,10,8,600\nsmall,20,1,60\n")


def check_priority(folder):
    """The terms of the job and of the one next to it, at the start of a span and at any time."""
    three_jobs(folder)

    def why(question, policy="smith"):
        simulate(folder, "--why", question, "--json", folder / "why.json", trace="three.csv",
                 cluster="1x8", policy=policy)
        return json.loads((folder / "why.json").read_text())["why"]

    # Preempted at 300 s: 3300 s on 6 GPUs are left of it, wide takes 600 s on 8.
    spans = {span["since_s"]: span for span in why("big")["history"]}
    priority = spans[300]["priority"]
    values = {term["term"]: term["value"] for term in priority["terms"]}
    check(abs(values["-ln(seconds left)"] + math.log(3300)) < 1e-9, values)
    check(abs(values["-ln(GPUs)"] + math.log(6)) < 1e-9, values)
    check(abs(priority["sum"] + math.log(3300 * 6)) < 1e-9, priority)
    check(priority["against"]["job"] == "wide", priority)
    check(abs(priority["against"]["sum"] + math.log(600 * 8)) < 1e-9, priority)
    check(priority["decisive"] == "-ln(seconds left)", priority)
    check(spans[0]["priority"]["against"] is None and spans[0]["priority"]["decisive"] is None, spans)
    check("priority" not in spans[4200], "an ended job has a priority")
    # Wide goes first from its arrival on, but big may not be stopped yet.
    check(why("wide")["history"][0]["priority"]["decisive"] is None, "it goes first and waits")
    # Of a time: as of the last decision before it, here the round of 240 s, 60 s before big stops.
    asked = why("wide@299.5")
    check(asked["priority"]["decided_s"] == 240, asked["priority"])
    check(abs(asked["priority"]["against"]["terms"][0]["value"] + math.log(3600 - 240)) < 1e-9, asked)
    check(why("wide@5")["priority"] is None and why("wide@1000")["priority"] is None, "not active")
    check(why("wide@299.5", "fifo")["priority"] is None, "fifo has terms")
    text = simulate(folder, "--why", "big@400", trace="three.csv", cluster="1x8",
                    policy="smith").stdout
    for words in ("job wide", "-ln(seconds left)    -8.102    -6.292      -1.810",
                  "decided by -ln(seconds left): -8.102 against -6.292 of job wide (index 1), the "
                  "last of those that run"):
        check(words in text, f"big@400: {text}")
    text = simulate(folder, "--why", "big", trace="three.csv", cluster="1x8", policy="srtf").stdout
    check("by -hours left: -0.997 against -0.167 of job wide" in text, text)
    check("decided" not in simulate(folder, "--why", "big", trace="three.csv", cluster="1x8").stdout,
          "fifo decides by terms")


def check_long_history(folder):
    """Many heads before it: the ends are shown, the JSON has all."""
    (folder / "long.csv").write_text("arrival_s,gpus,duration_s\n" + "0,4,10\n" * 200)
    run = simulate(folder, "--why", "199", trace="long.csv", cluster="1x4")
    lines = run.stdout.splitlines()
    check(len(lines) < 60 and any(re.search(r"\d+ more; --json has them", x) for x in lines), lines)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([BERTH, "trace", "generate", "--jobs", "150", "--seed", "5", "--out",
                        folder / "trace.csv"], check=True, stdout=subprocess.DEVNULL)
        check_wrong_questions(folder)
        check_long_history(folder)
        check_priority(folder)
        listed = subprocess.run([BERTH, "simulate", "--help"], capture_output=True, text=True,
                                check=True).stdout
        policies = re.search(r"one of (.*?) \(required\)", re.sub(r"\s+", " ", listed))[1].split(", ")
        for policy in policies:
            check_history(folder, policy, (0, 60, 149))
    print("\n".join(map(str, problems)) or "why: as the event log has it")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
