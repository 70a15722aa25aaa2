"""A scheduler of real jobs for end-to-end tests: started, killed and started again on one folder."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

BERTH = os.environ["BERTH"]
DEADLINE_S = 120


class Daemon:
    def __init__(self, *options, policy="berth"):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="berth-e2e-"))
        # Jobs must reach their own files below it.
        self.root.chmod(0o711)
        self.data = self.root / "data"
        listen = [] if "--listen" in options else ["--listen", "none"]
        self.options = [*listen, "--policy", policy, *options]
        if os.geteuid() == 0:
            self.options.append("--allow-root")
        self.process = None
        self.log = self.root / "up.log"

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.root, ignore_errors=True)

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([BERTH, "up", "--data", self.data, *self.options],
                                            stdout=log, stderr=log, start_new_session=True)
        self.until(self.answers, "the scheduler to answer")

    def answers(self):
        if self.process.poll() is not None:
            raise SystemExit(f"berth up ended with {self.process.returncode}:\n{self.log.read_text()}")
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(self.data / "berth.sock"))
            return True
        except OSError:
            return False

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=DEADLINE_S)

    def run(self, command, *words, code=0):
        result = subprocess.run([BERTH, command, "--data", self.data, *map(str, words)],
                                capture_output=True, text=True, check=False, cwd=self.root)
        if code is not None and result.returncode != code:
            raise SystemExit(f"berth {command} {words}: exit {result.returncode}, expected {code}\n"
                             f"{result.stdout}{result.stderr}{self.log.read_text()[-3000:]}")
        return result.stdout

    def ask(self, command, *words):
        return json.loads(self.run(command, *words, "--json", "-"))

    def submit(self, *words):
        return [int(line) for line in self.run("submit", *words).split()]

    def job(self, number):
        return self.ask("show", number)

    def state(self, number):
        return self.job(number)["state"]

    def until(self, condition, what, deadline_s=DEADLINE_S):
        end = time.monotonic() + deadline_s
        while not condition():
            if time.monotonic() > end:
                raise SystemExit(f"waited in vain for {what}\n{self.log.read_text()[-3000:]}")
            time.sleep(0.05)

    def until_idle(self, deadline_s=DEADLINE_S):
        self.until(lambda: not self.ask("jobs", "--active")["jobs"], "all jobs to end", deadline_s)


def check(condition, what):
    if not condition:
        raise SystemExit(f"wrong: {what}")
