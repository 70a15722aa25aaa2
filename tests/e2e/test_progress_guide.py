#!/usr/bin/env python3
"""The programs of docs/guides/progress.md do what it says: they report, stop when asked, and go on."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("BERTH_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
READER = pathlib.Path(os.environ["BERTH_TOOLS"]) / "progress_points"


def curve(path):
    """The points that are kept of a progress file."""
    run = subprocess.run([READER, "json", path], capture_output=True, text=True, check=True)
    summary = json.loads(run.stdout.splitlines()[-1])
    if summary["damaged"]:
        sys.exit(f"damaged lines: {summary}")
    return summary["curve"]


def expect(what, got, expected):
    if got != expected:
        sys.exit(f"{what}: {got!r}, expected {expected!r}")


def check_python(folder, env):
    """Asked to stop by its own loss function in iteration 50; the second run does the rest."""
    script = folder / "train.py"
    asking = script.read_text().replace(
        "    berth.report(", "    if state['iteration'] == 50 and not os.path.exists('state.json'):\n"
                             f"        os.kill(os.getpid(), {int(signal.SIGUSR1)})\n    berth.report(")
    script.write_text(asking)
    progress = folder / "0.progress"
    for last in (50, 199):
        subprocess.run([sys.executable, script], cwd=folder, check=True, timeout=60,
                       env={**env, "BERTH_PROGRESS": str(progress)})
        points = curve(progress)
        expect("iterations", [p["iteration"] for p in points], list(range(last + 1)))
    expect("the loss in the end is small", points[-1]["loss"] < 1e-9, True)


def check_shell(folder, env):
    progress = folder / "1.progress"
    subprocess.run(["sh", folder / "train.sh"], check=True, timeout=60,
                   env={**env, "BERTH_PROGRESS": str(progress)})
    expect("points", curve(progress), [{"iteration": i, "loss": (9 - i) / 10, "accuracy": (5 + i) / 10}
                                       for i in range(3)])


def main():
    guide = (SOURCE / "docs/guides/progress.md").read_text()
    files = re.findall(r"^```(?:python|sh)\n# (\S+)\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    expect("programs of the guide", [name for name, _ in files], ["train.py", "train.sh"])
    env = {**os.environ, "PYTHONPATH": str(SOURCE / "python")}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, code in files:
            (folder / file).write_text(code)
        check_python(folder, env)
        check_shell(folder, env)
    print("the guide's programs: as it says")


if __name__ == "__main__":
    main()
