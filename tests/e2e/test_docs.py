#!/usr/bin/env python3
"""The documents say what is so: their commands run, their pictures show what is printed today, their
links lead somewhere; and the checker itself finds what is planted."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("BERTH_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
DOCUMENTS = [p for p in [*SOURCE.glob("*.md"), *SOURCE.glob("docs/**/*.md"), SOURCE / "src/README.md"]
             if p.exists()]


def tool(name, *arguments):
    run = subprocess.run([SOURCE / "tools" / name, *arguments], capture_output=True, text=True,
                         check=False)
    return run.returncode, run.stdout + run.stderr


def broken_links():
    """"file: target" of relative links to files that are not there."""
    out = []
    for document in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)|<img[^>]* src=\"([^\"]+)\"", document.read_text()):
            path = target[0] or target[1]
            if not path.startswith("http") and not (document.parent / path).exists():
                out.append(f"{document}: broken link: {path}")
    return out


def checker_failures():
    """The checker passes a right document and refuses each wrong one."""
    out = []
    cases = [
        ("```sh run\ntrue\n```\n", 0, "1 blocks run, 0 wrong"),
        ("```sh run\nfalse\n```\n", 1, ":1: exit 1"),
        ("text\n```sh\nfalse\n```\n", 0, "0 blocks run"),
        ("```console run\n$ echo a; echo b\na\nb\n$ echo c\nc\n```\n", 0, "0 wrong"),
        ("```console run\n$ seq 9\n1\n...\n9\n```\n", 0, "0 wrong"),
        ("```console run\n$ echo a\nb\n```\n", 1, "instead of"),
        ("```console run\n$ echo a\n```\n", 1, "prints"),
        ("```console run\n$ berth --version\nberth 0.1.0\n```\n", 0, "0 wrong"),
    ]
    for text, code, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a.md")
            path.write_text(text)
            got = tool("check-docs", path)
            if got[0] != code or expected not in got[1]:
                out.append(f"check-docs on {text!r}: {got}, expected {code} and {expected!r}")
    return out


def metric_differences():
    """docs/metrics.md defines exactly the fields that simulate gives."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "t.csv")
        trace.write_text("arrival_s,gpus,duration_s\n0,1,10\n1,1,10\n")
        run = subprocess.run([os.environ["BERTH"], "simulate", "--trace", trace, "--cluster", "1x1",
                              "--policy", "fifo", "--json", "-"], capture_output=True, check=True)
    given = set(json.loads(run.stdout))
    rows = re.findall(r"^\| (`[^|]*`) \|", (SOURCE / "docs/metrics.md").read_text(), re.MULTILINE)
    defined = set(re.findall(r"`(\w+)`", " ".join(rows)))
    return ([f"docs/metrics.md lacks {name}" for name in sorted(given - defined)] +
            [f"docs/metrics.md defines {name}, which is not given" for name in sorted(defined - given)])


def main():
    problems = checker_failures() + broken_links() + metric_differences()
    code, text = tool("check-docs", *DOCUMENTS)
    problems += [text] if code else []
    pictures = sorted(SOURCE.glob("docs/img/*.svg"))
    if pictures:
        code, picture_text = tool("term-to-svg", "--check", *pictures)
        problems += [picture_text] if code else []
    print("\n".join(problems) or f"{text}{len(pictures)} pictures as drawn")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
