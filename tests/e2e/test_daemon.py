#!/usr/bin/env python3
"""The scheduler of real jobs from outside: what is submitted runs as it was written, what goes wrong
is explained, and what must be refused is."""
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request

from daemon import BERTH, Daemon, check


def words_and_values(berth):
    """Nothing of a command or an environment is touched by a shell."""
    odd = ["$(id)", "a b", "'", '"', "*", ";", "\\", "$HOME", "ü", "-n", "--", "\t|", ""]
    out = berth.root / "odd.json"
    code = f"import sys, os, json; json.dump([sys.argv[1:], os.environ['ODD']], open({str(out)!r}, 'w'))"
    berth.submit("--env", "ODD=$(reboot) b\nc", "--wait", "--", "python3", "-c", code, *odd)
    check(json.loads(out.read_text()) == [odd, "$(reboot) b\nc"], f"arguments: {out.read_text()}")
    large = "x" * 100_000
    job = [f"--env=V{i}={large}" for i in range(10)]
    size = berth.root / "size"
    berth.submit(*job, "--wait", "--", "sh", "-c", f"env | wc -c > {size}")
    check(int(size.read_text()) > 1_000_000, "an environment of 1 MiB arrives")
    large_file = berth.root / "large.yaml"
    large_file.write_text(f"command: ['true', '{'x' * 131_072}']\n")
    berth.run("submit", large_file, code=2)  # a word beyond the kernel's limit
    not_text = subprocess.run([os.fsencode(BERTH), b"submit", b"--data", bytes(berth.data), b"--",
                               b"true", b"\xff\xfe"], capture_output=True, check=False)
    check(not_text.returncode == 2 and b"UTF-8" in not_text.stderr, f"not UTF-8: {not_text}")


def ends_are_explained(berth):
    (missing,) = berth.submit("--", "/no/such/program")
    (killed,) = berth.submit("--", "sleep", "1000")
    (failing,) = berth.submit("--restarts", "1", "--", "sh", "-c", "exit 9")
    (limited,) = berth.submit("--time-limit", "1s", "--grace", "0s", "--", "sleep", "1000")
    berth.until(lambda: berth.state(killed) == "running", "the job to run")
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environ = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"BERTH_JOB={killed}".encode() in environ and str(berth.root).encode() in b" ".join(environ):
            os.kill(int(entry.name), signal.SIGKILL)
    berth.until_idle()
    for number, word in [(missing, "No such file"), (killed, "signal 9"), (failing, "code 9"),
                         (limited, "time limit")]:
        job = berth.job(number)
        check(job["state"] == "failed" and word in job["message"], f"job {number}: {job}")
    check(berth.job(failing)["attempts"] == 2, "it was tried again once")


def users_words(berth):
    """hold, why, release, requeue, cancel, logs."""
    (first,) = berth.submit("--hold", "--name", "first", "--", "sh", "-c", "echo one; sleep 0.2; echo two >&2")
    check(berth.ask("why", first)["reason"]["code"] == "held", "it says that it is held")
    berth.run("release", first)
    both = "one\n==> standard error <==\ntwo\n"
    check(berth.run("logs", "-f", first) == both, "what it prints")
    berth.until_idle()
    for option, text in [("--tail=1", both), ("--out", "one\n"), ("--err", "two\n")]:
        check(berth.run("logs", option, first) == text, f"logs {option}")
    check(berth.job(first)["state"] == "finished", "it has finished")
    berth.run("requeue", first)
    berth.until_idle()
    check(berth.job(first)["attempts"] == 2, "it ran again")
    numbers = berth.submit("--count", "30", "--name", "many", "--", "sleep", "1000")
    berth.until(lambda: berth.state(numbers[0]) == "running", "the first to run")
    why = berth.ask("why", numbers[-1])
    check(why["state"] == "pending" and why["reason"]["text"], f"why it waits: {why}")
    check(why["start"] or why["no_estimate"], f"when it starts: {why}")
    berth.run("cancel", "--now", *numbers)
    berth.until_idle()
    check({berth.state(number) for number in numbers} == {"stopped"}, "all are cancelled")
    berth.run("cancel", numbers[0], code=2)
    berth.run("show", 10**6, code=2)


def a_token_is_of_one_job(berth):
    one = berth.submit("--token", "t", "--", "true")
    check(berth.submit("--token", "t", "--", "true") == one, "the same job")
    other = subprocess.run([BERTH, "submit", "--data", berth.data, "--token", "t", "--", "false"], cwd=berth.root,
                           capture_output=True, text=True, check=False)
    check(other.returncode == 2 and f"was used for job {one[0]}" in other.stderr, f"another job: {other}")
    berth.until_idle()


def the_store_is_taken_away():
    """Said, and nothing is taken on, until it is back or the scheduler ends."""
    with Daemon("--quiet") as berth:
        store, moved = berth.data / "berth.db", berth.data / "elsewhere"
        store.rename(moved)
        berth.until(lambda: "nothing is started" in berth.run("top"), "it to be noticed")
        berth.run("submit", "--", "true", code=1)
        moved.rename(store)
        berth.until(lambda: "nothing is started" not in berth.run("top"), "it to be back")
        berth.submit("--wait", "--", "true")
        store.rename(moved)
        berth.process.send_signal(signal.SIGTERM)
        check(berth.process.wait(timeout=60) == 1, "the end says that not all is written")
        check("moved, removed or replaced" in berth.log.read_text(), berth.log.read_text())


def logs_go_on(berth):
    """logs -f begins before the job does, and goes on where it is run again."""
    code = "echo run $BERTH_ATTEMPT; [ $BERTH_ATTEMPT = 2 ]"
    (number,) = berth.submit("--hold", "--restarts", "1", "--", "sh", "-c", code)
    berth.run("logs", number, code=2)
    with subprocess.Popen([BERTH, "logs", "-f", "--data", berth.data, str(number)], text=True,
                          stdout=subprocess.PIPE) as logs:
        berth.run("release", number)
        text, _ = logs.communicate(timeout=60)
    check(logs.returncode == 0 and text == "run 1\n==> run 2 <==\nrun 2\n", f"both runs: {text!r}")


def giving_way(berth):
    """A job that is preempted saves its state and goes on; its ledger has each step once."""
    ledger, state = berth.root / "steps", berth.root / "state"
    script = f"""
i=$(cat {state} 2>/dev/null || echo 0)
trap 'echo $i > {state}; exit 0' USR1
while [ $i -lt 60 ]; do i=$((i + 1)); echo $i >> {ledger}; sleep 0.05; done"""
    (long,) = berth.submit("--cpus", os.cpu_count(), "--", "sh", "-c", script)
    berth.until(lambda: ledger.exists() and len(ledger.read_text().split()) > 3, "it to begin")
    berth.run("hold", long)
    berth.until(lambda: berth.state(long) == "held", "it to leave")
    check(state.exists(), "it has saved its state")
    berth.run("release", long)
    berth.until_idle()
    steps = [int(line) for line in ledger.read_text().split()]
    check(steps == list(range(1, 61)), f"each step once: {steps}")


def the_port():
    """TCP needs the token, and only the token's user is served."""
    with Daemon("--listen", "127.0.0.1:0", "--quiet") as berth:
        line = berth.log.read_text()
        port = int(line.split("http://127.0.0.1:")[1].split()[0])
        token = (berth.data / "token").read_text().strip()
        check((berth.data / "token").stat().st_mode & 0o777 == 0o600, "the token is its owner's")

        def status(path, word=None, method="GET", body=None):
            request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, method=method)
            if word:
                request.add_header("Authorization", f"Bearer {word}")
            try:
                with urllib.request.urlopen(request, timeout=20) as answer:
                    return answer.status
            except urllib.error.HTTPError as error:
                return error.code
        check(status("/healthz") == 200, "health is public")
        for word in [None, "", token[:-1], token + "0", "x" * 64]:
            check(status("/v1/jobs", word) == 401, f"token {word!r}")
            check(status("/v1/jobs", word, "POST", b"{}") == 401, f"token {word!r}")
        check(status("/v1/jobs", token) == 200, "the token")
        check(status("/v1/../v1/jobs", token) in (400, 404), "..")
        check(status("/v1/jobs", token, "POST", b"[" * 100_000) in (400, 422), "deep JSON")
        check(status("/v1/jobs", token, "POST", b" " * (9 << 20)) == 413, "too large")
        metrics = subprocess.run(["true"], check=True) and status("/metrics", token)
        check(metrics == 200, "metrics")


def folders():
    """One scheduler a folder; a copy of the store; a folder that cannot be written."""
    with Daemon("--quiet") as berth:
        second = subprocess.run([BERTH, "up", "--data", berth.data, "--listen", "none"],
                                capture_output=True, text=True, check=False, timeout=60)
        check(second.returncode == 1 and str(berth.process.pid) in second.stderr, second.stderr)
        berth.submit("--wait", "--", "true")
        copy = berth.root / "copy.db"
        berth.run("backup", "--out", copy)
        with sqlite3.connect(copy) as database:
            check(database.execute("pragma integrity_check").fetchone() == ("ok",), "the copy is whole")
        report = subprocess.run([BERTH, "doctor", "--data", berth.data, "--json", "-"],
                                capture_output=True, text=True, check=True)
        checks = {row["check"]: row["verdict"] for row in json.loads(report.stdout)["checks"]}
        check(checks["a job"] == "ok" and checks["scheduler"] == "ok", report.stdout)
    bad = subprocess.run([BERTH, "up", "--data", "/proc/berth", "--listen", "none"],
                         capture_output=True, text=True, check=False, timeout=60)
    check(bad.returncode == 1 and "/proc/berth" in bad.stderr, bad.stderr)


def a_full_disk():
    """Nothing begins while its intent cannot be written; what runs goes on, and is not forgotten."""
    if os.geteuid() != 0:
        return
    berth = Daemon("--quiet")
    berth.data.mkdir(mode=0o711)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m,mode=711", "berth", berth.data],
                      capture_output=True, check=False).returncode:
        return
    try:
        with berth:
            done = berth.root / "done"
            (runs,) = berth.submit("--", "sh", "-c", f"sleep 2; echo {'x'} >> {done}")
            berth.until(lambda: berth.state(runs) == "running", "it to run")
            filler = berth.data / "filler"
            with open(filler, "wb", buffering=0) as file:
                try:
                    while file.write(b"x" * 4096):
                        pass
                except OSError:
                    pass
            time.sleep(0.5)
            refused = subprocess.run([BERTH, "submit", "--data", berth.data, "--env", "V=" + "x" * 100_000,
                                      "--", "sh", "-c", f"echo never >> {done}"],
                                     capture_output=True, text=True, check=False)
            check(refused.returncode == 1, f"refused while the disk is full: {refused}")
            berth.until(done.exists, "the running job to go on")
            filler.unlink()
            berth.until_idle()
            (after,) = berth.submit("--wait", "--", "true")
            check(berth.state(after) == "finished", "it works again")
            check(berth.state(runs) == "finished", f"what ran has ended well: {berth.job(runs)}")
            check(done.read_text() == "x\n", "once")
            berth.stop()
    finally:
        subprocess.run(["umount", "-l", berth.data], check=False)


def main():
    with Daemon() as berth:
        words_and_values(berth)
        ends_are_explained(berth)
        users_words(berth)
        logs_go_on(berth)
        a_token_is_of_one_job(berth)
        giving_way(berth)
    the_port()
    folders()
    a_full_disk()
    the_store_is_taken_away()


if __name__ == "__main__":
    main()
