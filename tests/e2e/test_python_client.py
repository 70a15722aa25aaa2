#!/usr/bin/env python3
"""python/berth does what it says, and the example jobs lose no iteration and do none twice, however
often they are asked to leave or killed."""
import collections
import doctest
import json
import math
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ.get("BERTH_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ["BERTH"]).resolve().parent
sys.path.insert(0, str(SOURCE / "python"))
os.environ.pop("BERTH_PROGRESS", None)

import berth  # noqa: E402

JOBS = {"train_linear": [sys.executable, SOURCE / "jobs/train_linear.py"],
        "train_mlp": [BUILD / "jobs/train_mlp"]}


def python(code, **env):
    """Runs code with the client on its path."""
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                            env={**os.environ, "PYTHONPATH": str(SOURCE / "python"), **env})


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, "0.progress")
        os.environ["BERTH_PROGRESS"] = str(self.path)
        self.addCleanup(os.environ.pop, "BERTH_PROGRESS", None)

    def lines(self):
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def test_one_line_each(self):
        self.assertTrue(berth.report(iteration=1, loss=0.5))
        self.assertTrue(berth.report(2, accuracy=1, lr=0.1))
        first, second = self.lines()
        self.assertAlmostEqual(first.pop("time"), time.time(), delta=600)
        self.assertEqual(first, {"iteration": 1, "loss": 0.5})
        self.assertEqual((second["accuracy"], second["lr"]), (1.0, 0.1))

    def test_not_finite(self):
        self.assertTrue(berth.report(iteration=1, loss=math.nan))
        self.assertIn('"loss":NaN', self.path.read_text())

    def test_nothing_without_berth(self):
        del os.environ["BERTH_PROGRESS"]
        self.assertFalse(berth.report(iteration=1))
        self.assertFalse(self.path.exists())

    def test_the_job_goes_on_when_the_file_does_not(self):
        os.environ["BERTH_PROGRESS"] = str(self.path / "missing")
        self.assertFalse(berth.report(iteration=1))
        os.mkfifo(self.path)  # without a reader
        os.environ["BERTH_PROGRESS"] = str(self.path)
        self.assertFalse(berth.report(iteration=1))

    def test_wrong_use(self):
        with self.assertRaises(ValueError):
            berth.report(iteration=1, note="x" * 70000)
        with self.assertRaises((TypeError, ValueError)):
            berth.report(iteration="one")

    def test_processes_do_not_mix_their_lines(self):
        code = "import berth\nfor i in range(300): berth.report(iteration=i, note='x' * 500)"
        running = [python(code) for _ in range(4)]
        for process in running:
            process.communicate()
            self.assertEqual(process.returncode, 0)
        counts = collections.Counter(line["iteration"] for line in self.lines())
        self.assertEqual(counts, {i: 4 for i in range(300)})

    def test_documentation(self):
        del os.environ["BERTH_PROGRESS"]
        result = doctest.testmod(berth)
        self.assertEqual((result.failed, result.attempted > 0), (0, True))


class Stop(unittest.TestCase):
    CODE = ("import berth, time\n"
            "berth.on_checkpoint(lambda: print('saved', flush=True))\n"
            "print('ready', flush=True)\n"
            "while not berth.stop_requested(): time.sleep(0.01)\n"
            "print('left')")

    def check(self, number, **env):
        process = python(self.CODE, **env)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(number)
        rest, _ = process.communicate(timeout=60)
        self.assertEqual((rest, process.returncode), ("saved\nleft\n", 0))

    def test_asked_by_the_usual_signal(self):
        self.check(signal.SIGUSR1)

    def test_asked_by_another_signal(self):
        self.check(signal.SIGINT, BERTH_CHECKPOINT_SIGNAL="INT")

    def test_no_signal(self):
        process = python("import berth; print(berth.stop_requested(), berth.checkpoint_signal())",
                         BERTH_CHECKPOINT_SIGNAL="none")
        self.assertEqual(process.communicate()[0], "False None\n")

    def test_ranks(self):
        process = python("import berth; print(berth.rank(), berth.world_size(), berth.local_rank())",
                         RANK="2", WORLD_SIZE="4", LOCAL_RANK="rubbish")
        self.assertEqual(process.communicate()[0], "2 4 0\n")


class Jobs(unittest.TestCase):
    ITERATIONS = 60

    def start(self, command, folder):
        return subprocess.Popen(
            [*map(str, command), "--iterations", str(self.ITERATIONS), "--sleep-ms", "2",
             "--checkpoint", f"{folder}/state", "--ledger", f"{folder}/ledger"],
            stdout=subprocess.DEVNULL,
            env={**os.environ, "BERTH_PROGRESS": f"{folder}/progress", "BERTH_JOB": "7"})

    def finish(self, command, folder, signals, rng):
        """Disturbs the job until it is done; how often it was run."""
        runs = 0
        while True:
            runs += 1
            process = self.start(command, folder)
            if runs <= 25:
                time.sleep(rng.uniform(0, 0.2))
                process.send_signal(rng.choice(signals))
            code = process.wait(timeout=60)
            if code == 0:
                return runs
            self.assertIn(code, (75, -signal.SIGKILL, -signal.SIGUSR1))

    def check(self, name, signals):
        with tempfile.TemporaryDirectory() as folder:
            runs = self.finish(JOBS[name], folder, signals, random.Random(name))
            rows = [line.split() for line in pathlib.Path(folder, "ledger").read_text().splitlines()]
            self.assertEqual([(row[0], int(row[1])) for row in rows],
                             [("7", i) for i in range(self.ITERATIONS)], f"after {runs} runs")
            for line in pathlib.Path(folder, "progress").read_text().splitlines():
                self.assertIn("loss", json.loads(line))

    def test_python_job_asked_to_leave(self):
        self.check("train_linear", [signal.SIGUSR1])

    def test_python_job_killed(self):
        self.check("train_linear", [signal.SIGKILL, signal.SIGUSR1])

    def test_cpp_job_asked_to_leave(self):
        self.check("train_mlp", [signal.SIGUSR1])

    def test_cpp_job_killed(self):
        self.check("train_mlp", [signal.SIGKILL, signal.SIGUSR1])

    def test_same_result_however_often_it_was_stopped(self):
        for name, command in JOBS.items():
            states = []
            for signals in ([], [signal.SIGUSR1, signal.SIGKILL]):
                with tempfile.TemporaryDirectory() as folder:
                    if signals:
                        self.finish(command, folder, signals, random.Random(1))
                    else:
                        self.assertEqual(self.start(command, folder).wait(timeout=60), 0)
                    states.append(pathlib.Path(folder, "state").read_text())
            self.assertEqual(states[0], states[1], name)


if __name__ == "__main__":
    unittest.main()
