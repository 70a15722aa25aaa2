#!/usr/bin/env python3
"""Speed of the scheduler of real jobs: bench/daemon.py [JOBS]. Prints jobs of /bin/true a second beside
what this machine does without any scheduler, and rounds and memory with a long queue."""
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("BERTH", str(ROOT / "build/release/berth"))
sys.path.insert(0, str(ROOT / "tests/e2e"))
from daemon import Daemon  # noqa: E402


def bare_rate(count):
    """/bin/true a second and CPU ms each, two at a time, by posix_spawn."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start, running, begun = time.monotonic(), 0, 0
    for _ in range(count):
        while running < 2 and begun < count:
            os.posix_spawn("/bin/true", ["/bin/true"], os.environ)
            running, begun = running + 1, begun + 1
        os.wait()
        running -= 1
    took = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return count / took, 1000 * cpu / count


def process(pid):
    """CPU seconds and MiB of a process."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK"), pages * 4096 / 2**20


def status(berth):
    return json.loads(subprocess.run(
        [sys.executable, "-c", STATUS, str(berth.data / "berth.sock")], capture_output=True, check=True).stdout)


STATUS = """
import http.client, socket, sys
connection = http.client.HTTPConnection("localhost")
connection.sock = socket.socket(socket.AF_UNIX)
connection.sock.connect(sys.argv[1])
connection.request("GET", "/v1/status")
print(connection.getresponse().read().decode())
"""


def throughput(jobs):
    with Daemon("--quiet") as berth:
        start = time.monotonic()
        for _ in range(0, jobs, 1000):
            berth.run("submit", "--cpus", "0.25", "--count", min(1000, jobs), "--", "/bin/true")
        while berth.ask("jobs", "--active", "--limit", "1")["jobs"]:
            time.sleep(0.1)
        took = time.monotonic() - start
        cpu, mib = process(berth.process.pid)
    return jobs / took, 1000 * cpu / jobs, mib


def queue(jobs):
    with Daemon("--quiet") as berth:
        for _ in range(0, jobs, 10_000):
            berth.run("submit", "--count", min(10_000, jobs), "--", "sleep", "1")
        before = status(berth)
        time.sleep(20)
        after = status(berth)
        rounds = after["rounds"] - before["rounds"]
        spent = (after["rounds"] * after["round_mean_us"] - before["rounds"] * before["round_mean_us"])
        mib = process(berth.process.pid)[1]
        pending = after["pending"]
        berth.kill()
        start = time.monotonic()
        berth.start()
        return pending, spent / max(1, rounds), after["round_most_us"], mib, time.monotonic() - start


def main():
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    rate, cpu = bare_rate(jobs // 2)
    print(f"without a scheduler  {rate:6.0f} /bin/true a second, {cpu:.2f} ms of CPU each")
    rate, cpu, mib = throughput(jobs)
    print(f"berth up             {rate:6.0f} a second, {cpu:.2f} ms of the scheduler's CPU each, {mib:.0f} MiB")
    pending, mean, most, mib, again = queue(25 * jobs)
    print(f"{pending} queued: round mean {mean / 1000:.3f} ms, most {most / 1000:.3f} ms, {mib:.0f} MiB, "
          f"started again in {again:.1f} s")


if __name__ == "__main__":
    main()
