#!/usr/bin/env python3
"""Fits the contention model of docs/contention.md and prints its error: bench/fit_contention.py [DATA]

DATA: the folder with the data sets (default: $BERTH_DATA_DIR, or ../shared/data). Only the set
gavel2019_v100 says what each job uses alone. Errors are mean absolute errors of the interference
rate (slow-down - 1) on rows that the fit has not seen: five times five folds in which a pair stays
together, and leaving out one job with all its pairs.
"""
import csv
import math
import os
import pathlib
import statistics
import sys
from typing import NamedTuple

V100_BYTES_PER_S = 900e9  # peak of its memory (NVIDIA V100 data sheet)
MOST_PRESSURE = 1.2  # about the largest that was measured (1.21); beyond it nothing is known


class Use(NamedTuple):
    """Parts of one device that a job takes while alone."""
    sm: float
    memory_bandwidth: float
    bus: float


class Row(NamedTuple):
    subject: str
    partner: str
    use: Use
    partner_use: Use
    rate: float


def use_of(row, who):
    value = {name: float(row[f"{who}.{name}"]) for name in
             ("sm_efficiency", "dram_read_throughput", "dram_write_throughput", "memcpy_share")}
    moved = (value["dram_read_throughput"] + value["dram_write_throughput"]) * 1e9
    return Use(value["sm_efficiency"] / 100, moved / V100_BYTES_PER_S, value["memcpy_share"])


# Forms of the model: the rate of a row, from parameters that are positive.

def overflow(p, row):
    """What is asked of a resource beyond all of it stretches both; and a share of the partner's SM."""
    stretch = 1.0
    for mine, theirs in zip(row.use, row.partner_use):
        stretch *= max(1.0, mine + theirs) if mine > 0 else 1.0
    return stretch * (1 + p[0] * row.partner_use.sm) - 1


def sm_power(p, row):
    return p[0] * row.partner_use.sm ** p[1]


def pressure(row):
    return min(MOST_PRESSURE, row.partner_use.sm + row.partner_use.memory_bandwidth)


def pressure_power(p, row):
    return p[0] * pressure(row) ** p[1]


def chosen(p, row):
    return p[0] * pressure(row) ** p[1] / (1 + p[2] * row.use.bus)


FORMS = [
    ("demand beyond capacity, and kappa x SM of the partner", overflow, [0.1]),
    ("a x SM^p", sm_power, [1.0, 2.0]),
    ("a x (SM + memory bandwidth)^p", pressure_power, [0.2, 10.0]),
    ("the same over (1 + v x own bus): chosen", chosen, [0.2, 10.0, 5.0]),
]


def minimise(cost, start):
    """Nelder and Mead's simplex method (The Computer Journal, 1965)."""
    size = len(start)
    points = [list(start)] + [[x + (0.5 if i == j else 0) for j, x in enumerate(start)]
                              for i in range(size)]
    simplex = sorted((cost(x), x) for x in points)
    for _ in range(400):
        if simplex[-1][0] - simplex[0][0] < 1e-8:
            break
        centre = [statistics.fmean(x[j] for _, x in simplex[:-1]) for j in range(size)]

        def towards_worst(step):
            x = [c + step * (w - c) for c, w in zip(centre, simplex[-1][1])]
            return cost(x), x

        tried = towards_worst(-1)
        if tried[0] < simplex[0][0]:
            tried = min(tried, towards_worst(-2))
        elif tried[0] >= simplex[-2][0]:
            tried = min(tried, towards_worst(0.5))
        if tried[0] < simplex[-1][0]:
            simplex[-1] = tried
        else:
            best = simplex[0][1]
            halved = [[(a + b) / 2 for a, b in zip(x, best)] for _, x in simplex[1:]]
            simplex[1:] = [(cost(x), x) for x in halved]
        simplex.sort()
    return simplex[0][1]


def parameters(logs):
    return [math.exp(max(-20.0, min(20.0, x))) for x in logs]


def fit(form, start, rows):
    def cost(logs):
        p = parameters(logs)
        return statistics.fmean(abs(form(p, row) - row.rate) for row in rows)
    return parameters(minimise(cost, [math.log(x) for x in start]))


def pair_splits(rows, folds):
    """(rows to fit, rows to test) for each fold of each folding; a pair is in one fold."""
    for repeat in (key for key in folds[0] if key.startswith("repeat")):
        for fold in sorted({f[repeat] for f in folds}):
            yield ([r for r, f in zip(rows, folds) if f[repeat] != fold],
                   [r for r, f in zip(rows, folds) if f[repeat] == fold])


def job_splits(rows):
    """The rows that have a job as subject are tested by a fit that knows none that name it."""
    for job in sorted({r.subject for r in rows}):
        yield ([r for r in rows if job not in (r.subject, r.partner)],
               [r for r in rows if r.subject == job])


def held_out_error(splits, fit_predictor):
    wrong = []
    for known, unknown in splits:
        predict = fit_predictor(known)
        wrong += [abs(predict(row) - row.rate) for row in unknown]
    return statistics.fmean(wrong)


def constant(centre):
    def fit_predictor(known):
        value = centre([r.rate for r in known])
        return lambda row: value
    return fit_predictor


def fitted(form, start):
    def fit_predictor(known):
        p = fit(form, start, known)
        return lambda row: form(p, row)
    return fit_predictor


def main():
    data = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                        os.environ.get("BERTH_DATA_DIR", "../shared/data")) / "interference/berth_csv"
    with open(data / "gavel2019_v100.csv", encoding="utf-8") as file:
        rows = [Row(row["subject"], row["corunners"], use_of(row, "solo"), use_of(row, "co"),
                    float(row["interference_rate"])) for row in csv.DictReader(file)]
    with open(data / "gavel2019_v100.folds.csv", encoding="utf-8") as file:
        folds = list(csv.DictReader(file))

    candidates = [("constant: the mean", constant(statistics.fmean), ""),
                  ("constant: the median", constant(statistics.median), "")]
    for name, form, start in FORMS:
        p = fit(form, start, rows)
        candidates.append((name, fitted(form, start), "  ".join(f"{x:.4g}" for x in p)))
    print(f"{len(rows)} rows of {len({r.subject for r in rows})} jobs\n")
    print(f"{'form':<56} {'by pair':>8} {'by job':>8}  parameters, all rows")
    for name, fit_predictor, shown in candidates:
        by_pair = held_out_error(pair_splits(rows, folds), fit_predictor)
        by_job = held_out_error(job_splits(rows), fit_predictor)
        print(f"{name:<56} {by_pair:8.4f} {by_job:8.4f}  {shown}", flush=True)
    name, form, start = FORMS[-1]
    p = fit(form, start, rows)
    print(f"\nmean rate: measured {statistics.fmean(r.rate for r in rows):.3f}, "
          f"fitted {statistics.fmean(form(p, r) for r in rows):.3f}")
    print(f"largest rate: measured {max(r.rate for r in rows):.2f}, "
          f"fitted {max(form(p, r) for r in rows):.2f}")
    whole = [r.partner_use.sm + r.partner_use.memory_bandwidth for r in rows]
    print(f"SM + memory bandwidth of a job alone: {min(whole):.2f} to {max(whole):.2f}")


if __name__ == "__main__":
    main()
