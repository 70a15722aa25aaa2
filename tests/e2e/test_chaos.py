#!/usr/bin/env python3
"""kill -9 of the scheduler at random points while jobs run: no job is lost, none runs twice, each end
is explained. BERTH_CHAOS_KILLS is how often (20); the seed is printed."""
import collections
import os
import pathlib
import random
import time

from daemon import Daemon, check

KILLS = int(os.environ.get("BERTH_CHAOS_KILLS", "20"))
SEED = int(os.environ.get("BERTH_CHAOS_SEED", str(random.randrange(1 << 30))))

# One line at its begin and one at its end, each a single write.
JOB = 'echo "begin $BERTH_JOB $BERTH_ATTEMPT" >> "$1"; sleep "$2"; echo "end $BERTH_JOB $BERTH_ATTEMPT" >> "$1"; exit "$3"'


def main():
    print(f"seed {SEED}, {KILLS} kills")
    rng = random.Random(SEED)
    with Daemon("--quiet") as berth:
        ledger = berth.root / "ledger"
        ledger.touch()
        wanted = {}  # job: its exit code
        for kill in range(KILLS):
            for _ in range(rng.randrange(1, 6)):
                code = 0 if rng.random() < 0.9 else 7
                (number,) = berth.submit("--cpus", rng.choice(["0.2", "0.5", "1"]), "--", "sh", "-c",
                                         JOB, "sh", ledger, f"{rng.random() * 0.5:.3f}", code)
                wanted[number] = code
            time.sleep(rng.random() * 0.3)
            berth.kill()
            if rng.random() < 0.3:
                time.sleep(rng.random() * 0.5)  # jobs end while nobody watches
            berth.start()
        berth.until_idle()
        lines = collections.Counter(pathlib.Path(ledger).read_text().splitlines())
        for number, code in wanted.items():
            job = berth.job(number)
            check(job["state"] == ("finished" if code == 0 else "failed"), f"job {number}: {job}")
            check(code == 0 or "code 7" in job["message"], f"job {number} is explained: {job}")
            begun = [line for line in lines if line.split()[:2] == ["begin", str(number)]]
            check(len(begun) == 1 and lines[begun[0]] == 1, f"job {number} began once: {begun}")
            check(lines[begun[0].replace("begin", "end")] == 1, f"job {number} ended once")
        check(sum(lines.values()) == 2 * len(wanted), "the ledger has no other lines")
        print(f"{len(wanted)} jobs, {KILLS} kills: each ran once")


if __name__ == "__main__":
    main()
