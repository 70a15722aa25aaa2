#!/usr/bin/env python3
"""The code of docs/guides/add-a-policy.md compiles against this tree, and its test passes."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("BERTH_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
LIBRARIES = pathlib.Path(os.environ["BERTH"]).resolve().parent / "src"
# Whoever uses comes before what is used.
LINKED = ["engine", "policy", "place", "curve", "trace", "model", "document", "base"]
SYSTEM = ["gtest", "gtest_main", "fmt", "yaml-cpp", "simdjson", "z", "lzma", "zstd", "pthread"]


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def main():
    guide = (SOURCE / "docs/guides/add-a-policy.md").read_text()
    files = re.findall(r"^```cpp\n// (\S+)\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    if len(files) != 3:
        sys.exit(f"expected 3 files in the guide, found {[name for name, _ in files]}")
    with tempfile.TemporaryDirectory() as folder:
        for name, code in files:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(code)
        binary = pathlib.Path(folder, "lifo_test")
        libraries = [LIBRARIES / f"libberth_{name}.a" for name in LINKED]
        run("g++", "-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", "-I", SOURCE / "src",
            "-I", pathlib.Path(folder, "src"), *pathlib.Path(folder).rglob("*.cpp"),
            *(path for path in libraries if path.exists()), *(f"-l{name}" for name in SYSTEM),
            "-o", binary)
        print(run(binary), end="")
        print(run(SOURCE / "tools/check-layers", folder), end="")


if __name__ == "__main__":
    main()
