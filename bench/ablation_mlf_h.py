#!/usr/bin/env python3
"""What each part of mlf-h is worth: paired runs with the part and without it.

    bench/ablation_mlf_h.py --trace TRACE [--berth build/release/berth] [--seeds 20] [--jobs 1860]

Prints, for each part and figure, the change that the part brings: the mean over the seeds of what
the policy has less what it has without the part, in percent of the mean without it, and half of its
95 % interval (Student's t, paired). The jobs are those of `--workload paper` on `mlfs-real`, all
sharing, run times known with an error of 0.5. --json F writes every run too.
"""
import argparse
import concurrent.futures
import json
import math
import statistics
import subprocess
import sys

# Part: the settings that turn it off.
PARTS = {
    "urgency": ["urgency_weight=0"],
    "loss": ["loss_weight=0"],
    "size": ["size_weight=0"],
    "deadline": ["gamma_d=0"],
    "remaining time": ["gamma_r=0"],
    "waiting time": ["gamma_w=0"],
    "traffic in placement": ["traffic_weight=0"],
    "migration": ["migrates=0"],
    "preemption": ["preempts=0"],
    "straggler copies": ["straggler_copies=0"],  # beside --set straggler_copies=1 --faults ...
}
FIGURES = ["mean_jct_s", "p99_jct_s", "deadline_ratio", "urgent_deadline_ratio", "mean_accuracy",
           "accuracy_ratio", "inter_server_bytes", "overloads", "migrations", "preemptions",
           "copies", "copies_held_gpu_s", "gpu_utilisation"]
# Student's t, 97.5 %, by degrees of freedom.
T_975 = [math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201,
         2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
         2.060, 2.056, 2.052, 2.048, 2.045]


def run(options, seed, settings):
    command = [options.berth, "simulate", "--trace", options.trace, "--cluster", "mlfs-real",
               "--workload", "paper", "--set", f"jobs={options.jobs}", "--sharing", "shared",
               "--predict", "noisy:0.5", "--policy", "mlf-h", "--seed", str(seed), "--json", "-"]
    if options.faults:
        command += ["--faults", options.faults]
    for setting in options.set + settings:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def change(whole, without, figure):
    """Mean difference and half its interval, in percent of the mean without the part."""
    gaps = [a[figure] - b[figure] for a, b in zip(whole, without)]
    base = statistics.mean(b[figure] for b in without)
    if base == 0:
        return None
    half = T_975[len(gaps) - 1] * statistics.stdev(gaps) / math.sqrt(len(gaps))
    return 100 * statistics.mean(gaps) / base, 100 * half / base


def cell(found):
    return "-" if found is None else f"{found[0]:+.1f} ± {found[1]:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", required=True)
    parser.add_argument("--berth", default="build/release/berth")
    parser.add_argument("--seeds", type=int, default=20, choices=range(2, len(T_975) + 1))
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1860)
    parser.add_argument("--set", action="append", default=[], help="a setting of every run")
    parser.add_argument("--faults", help="as of berth simulate")
    parser.add_argument("--parts", default=",".join(p for p in PARTS if p != "straggler copies"),
                        help="some of: " + ", ".join(PARTS))
    parser.add_argument("--json", help="file for every run")
    options = parser.parse_args()
    parts = options.parts.split(",")
    for part in parts:
        if part not in PARTS:
            parser.error(f"no part '{part}'; there are {', '.join(PARTS)}")

    seeds = range(options.first_seed, options.first_seed + options.seeds)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = {name: [pool.submit(run, options, seed, off) for seed in seeds]
                for name, off in [("whole", [])] + [(part, PARTS[part]) for part in parts]}
        runs = {name: [job.result() for job in of] for name, of in jobs.items()}
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump(runs, out, indent=1)

    print("mlf-h: " + ", ".join(f"{figure} {statistics.mean(r[figure] for r in runs['whole']):.6g}"
                                for figure in FIGURES))
    print(f"\nwhat each part changes, in % of what is without it ± 95 %, {options.seeds} seeds\n")
    print("| part | " + " | ".join(FIGURES) + " |")
    print("|---|" + "---|" * len(FIGURES))
    for part in parts:
        cells = [cell(change(runs["whole"], runs[part], figure)) for figure in FIGURES]
        print(f"| {part} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
