#!/usr/bin/env python3
"""tools/check-layers accepts this tree and names each violation planted in another."""
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("BERTH_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
CHECK = SOURCE / "tools" / "check-layers"

# file, its one include, what the check must say of it (None: nothing)
CASES = [
    ("src/base/time.h", "<cstdint>", None),
    ("src/model/job.h", '"base/time.h"', None),
    ("src/base/ids.h", '"model/job.h"', "base/ must not use model/"),
    ("src/policy/srtf/srtf.cpp", '"policy/common/queue.h"', None),
    ("src/policy/srtf/srtf.h", '"model/view.h"', None),
    ("src/policy/srtf/twin.cpp", '"policy/fifo/fifo.h"', "must not use its sibling policy/fifo/"),
    ("src/policy/registry.cpp", '"policy/fifo/fifo.h"', None),
    ("src/policy/fifo/a.cpp", '"engine/engine.h"', "policy/ must not use engine/"),
    ("src/policy/fifo/b.cpp", '"trace/trace.h"', "policy/ must not use trace/"),
    ("src/policy/fifo/c.cpp", '"backend/local/run.h"', "policy/ must not use backend/"),
    ("src/policy/fifo/d.cpp", '"server/api.h"', "policy/ must not use server/"),
    ("src/policy/fifo/e.cpp", "<fstream>", "policy/ is pure"),
    ("src/policy/fifo/f.cpp", "<filesystem>", "policy/ is pure"),
    ("src/policy/fifo/g.cpp", "<cstdio>", "policy/ is pure"),
    ("src/place/h.cpp", "<chrono>", "place/ is pure"),
    ("src/engine/i.cpp", "<random>", "<random> is used nowhere"),
    ("src/trace/j.cpp", '"engine/engine.h"', "trace/ must not use engine/"),
    ("src/backend/local/k.cpp", '"backend/slurm/sbatch.h"', "its sibling backend/slurm/"),
    ("src/report/l.cpp", '"report/table.h"', None),
    ("src/novel/m.cpp", "<vector>", "is not in ALLOWED"),
    ("src/engine/n.cpp", '"../policy/policy.h"', "is in no known folder"),
    ("apps/berth/cli.cpp", "<CLI/App.hpp>", None),
    ("apps/berth/cmd_x.cpp", "<CLI/App.hpp>", "but in apps/berth/cli.cpp"),
]


def run(root):
    return subprocess.run([CHECK, root], capture_output=True, text=True, check=False)


def main():
    failures = []
    real = run(SOURCE)
    if real.returncode != 0:
        failures.append(f"this tree: {real.stdout}")
    for file, include, expected in CASES:
        with tempfile.TemporaryDirectory() as root:
            path = pathlib.Path(root, file)
            path.parent.mkdir(parents=True)
            path.write_text(f"// A file.\n#include {include}\n")
            got = run(root)
            caught = got.returncode == 1 and expected and expected in got.stdout
            clean = got.returncode == 0 and not got.stdout
            if not (caught if expected else clean):
                failures.append(f"{file}: #include {include}: expected {expected!r}, "
                                f"got {got.stdout!r} (exit {got.returncode})")
            if expected and not got.stdout.startswith(f"{file}:"):
                failures.append(f"{file}: the line does not begin with the place: {got.stdout!r}")
    print("\n".join(failures) or f"{len(CASES)} cases and this tree: as expected")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
