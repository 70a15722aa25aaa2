#!/usr/bin/env python3
"""An example training job: fits a line by stochastic gradient descent, in Python alone.

It reports each iteration to Berth, saves its state when it is asked to leave (SIGUSR1), and goes on
from there in its next run. With --ledger it appends "JOB ITERATION PID" for every iteration that it has
done and saved: over all its runs, killed ones too, each iteration stands there once.

Exit codes: 0 all iterations are done; 75 it was asked to leave before.
"""
import argparse
import json
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

import berth  # noqa: E402

SLOPE, OFFSET, NOISE = 3.0, -1.0, 0.1
RATE = 0.05
BATCH = 16
STOPPED = 75  # exit code: not done, run it again


def batch(seed, iteration):
    """The points of an iteration: always the same ones, whatever run it is done in."""
    rng = random.Random(seed * 1_000_003 + iteration)
    xs = [rng.uniform(-1, 1) for _ in range(BATCH)]
    return [(x, SLOPE * x + OFFSET + rng.gauss(0, NOISE)) for x in xs]


def step(state, points):
    """One step of descent; returns the loss before it."""
    errors = [state["slope"] * x + state["offset"] - y for x, y in points]
    state["slope"] -= RATE * 2 * sum(e * x for e, (x, _) in zip(errors, points)) / len(points)
    state["offset"] -= RATE * 2 * sum(errors) / len(points)
    return sum(e * e for e in errors) / len(points)


def load(path):
    if path and os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    return {"iteration": 0, "slope": 0.0, "offset": 0.0}


def save(path, state):
    """There whole or not at all, whatever happens in between."""
    if not path:
        return
    beside = path + ".new"
    with open(beside, "w", encoding="utf-8") as file:
        json.dump(state, file)
    os.replace(beside, path)


class Ledger:
    """Lines of finished iterations. The state is saved before the line is written, so a run that was
    killed between the two has left no line: the next run adds it."""

    def __init__(self, path, state):
        self.path = path
        self.job = os.environ.get("BERTH_JOB", "-")
        last = state["iteration"] - 1
        if path and last >= 0 and not self.has(last):
            self.add(last)

    def has(self, iteration):
        if not os.path.exists(self.path):
            return False
        with open(self.path, encoding="utf-8") as file:
            return any(line.split()[:2] == [self.job, str(iteration)] for line in file)

    def add(self, iteration):
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        line = "{} {} {}\n".format(self.job, iteration, os.getpid()).encode()
        if os.write(file, line) != len(line):
            sys.exit("{}: a line was cut".format(self.path))
        os.close(file)


def nap(seconds):
    """Sleeps, but not longer than until the job is asked to leave."""
    end = time.monotonic() + seconds
    while not berth.stop_requested():
        left = end - time.monotonic()
        if left <= 0:
            break
        time.sleep(min(left, 0.05))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--checkpoint", metavar="FILE", help="state of the job, to go on from")
    parser.add_argument("--sleep-ms", type=float, default=0, help="time that an iteration takes")
    parser.add_argument("--ledger", metavar="FILE", help="a line for each finished iteration")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    state = load(options.checkpoint)
    ledger = Ledger(options.ledger, state)
    saved_at = time.monotonic()
    while state["iteration"] < options.iterations:
        nap(options.sleep_ms / 1000)
        if berth.stop_requested():
            break
        iteration = state["iteration"]
        loss = step(state, batch(options.seed, iteration))
        state["iteration"] += 1
        if options.ledger or time.monotonic() - saved_at > 1:
            save(options.checkpoint, state)
            saved_at = time.monotonic()
        if options.ledger:
            ledger.add(iteration)
        berth.report(iteration=iteration, loss=loss)
    save(options.checkpoint, state)
    done = state["iteration"] >= options.iterations
    print("{} at iteration {}: y = {:.3f} x {:+.3f}".format(
        "done" if done else "stopped", state["iteration"], state["slope"], state["offset"]))
    return 0 if done else STOPPED


if __name__ == "__main__":
    sys.exit(main())
