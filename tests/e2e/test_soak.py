#!/usr/bin/env python3
"""Jobs come and go for BERTH_SOAK_S seconds (300): the scheduler's memory and its open files stay as
they are. What is kept of ended jobs is made anew now and then, so peaks are compared."""
import os
import pathlib
import time

from daemon import Daemon, check

SECONDS = int(os.environ.get("BERTH_SOAK_S", "300"))
JOBS_PER_S = 20


def resident_mib(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 2**20


def main():
    with Daemon("--quiet") as berth:
        pid = berth.process.pid
        samples, submitted, start = [], 0, time.monotonic()
        while (now := time.monotonic() - start) < SECONDS:
            active = len(berth.ask("jobs", "--active", "--limit", "1000")["jobs"])
            if active < 200:  # a slow machine takes fewer
                berth.run("submit", "--cpus", "0.2", "--count", JOBS_PER_S, "--", "/bin/true")
                submitted += JOBS_PER_S
            samples.append((now, resident_mib(pid)))
            time.sleep(max(0.0, 1 - (time.monotonic() - start - now)))
        berth.until_idle()
        files = len(os.listdir(f"/proc/{pid}/fd"))
        third = SECONDS / 3
        middle = max(mib for at, mib in samples if third <= at < 2 * third)
        last = max(mib for at, mib in samples if at >= 2 * third)
        print(f"{submitted} jobs in {SECONDS} s; peak in the second third {middle:.1f} MiB, in the last "
              f"{last:.1f} MiB; {files} files open")
        check(last <= 1.05 * middle + 4, "memory stays flat")
        check(files < 40, "files are closed")


if __name__ == "__main__":
    main()
