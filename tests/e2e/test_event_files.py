#!/usr/bin/env python3
"""Event files and progress files written here, from their formats' descriptions, come out as they were
meant: every value, in the order of each file, whatever else stands between."""
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

READER = pathlib.Path(os.environ["BERTH_TOOLS"]) / "progress_points"


def crc32c(data):
    """Bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data):
    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


def varint(value):
    value &= 2**64 - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def scalar(rng, tag, value):
    """One value of a summary, in any of the ways that writers have."""
    forms = [
        varint(2 << 3 | 5) + struct.pack("<f", value),
        field(8, b"\x08\x01" + field(2, b"") + field(5, struct.pack("<f", value))),
        field(8, b"\x08\x01" + varint(5 << 3 | 5) + struct.pack("<f", value)),
        field(8, b"\x08\x02" + field(6, struct.pack("<d", value))),
        field(8, b"\x08\x01" + field(4, struct.pack("<f", value))),
    ]
    metadata = field(9, field(1, b"\x0a\x07scalars")) if rng.random() < 0.5 else b""
    return field(1, field(1, tag.encode()) + metadata + rng.choice(forms))


def event(rng, wall_time, step, scalars):
    parts = [b"\x09" + struct.pack("<d", wall_time), field(5, b"".join(scalars))]
    if step:
        parts.append(b"\x10" + varint(step))
    rng.shuffle(parts)
    return record(b"".join(parts))


def as_float(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def read(kind, path):
    run = subprocess.run([READER, kind, path], capture_output=True, text=True, check=True, timeout=60)
    *points, summary = [json.loads(line) for line in run.stdout.splitlines()]
    return points, summary


def event_files(rng, folder):
    """Writes a run of several files; the curve that is meant, and how many records are damaged."""
    losses, damaged = {}, 0
    steps = list(range(rng.randrange(1, 200)))
    writers = rng.randrange(1, 4)
    files = [bytearray(record(b"\x09" + struct.pack("<d", 1.7e9) + field(3, b"brain.Event:2")))
             for _ in range(writers)]
    for step in steps:
        file = rng.choice(files)
        value = as_float(rng.choice([rng.random(), rng.gauss(0, 1e6), 1e-30]))
        extra = [scalar(rng, "lr", 0.1)] if rng.random() < 0.3 else []
        whole = event(rng, 1.7e9 + rng.random(), step, [scalar(rng, "train/loss", value), *extra])
        if rng.random() < 0.1:
            file += record(field(4, bytes(rng.randrange(2_000_000))) if rng.random() < 0.1 else b"")
        if rng.random() < 0.1:
            at = rng.randrange(12, len(whole))
            file += whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1:]
            damaged += 1
            continue
        file += whole
        losses[step] = value
    for number, data in enumerate(files):
        sub = folder / f"run{number % 2}"
        sub.mkdir(exist_ok=True)
        cut = data + event(rng, 1.7e9, 10**6, [scalar(rng, "train/loss", 1)])[:-1]
        (sub / f"events.out.tfevents.{1700000000 + number}.host.1.0").write_bytes(cut)
    return losses, damaged


def check_event_files(rng):
    with tempfile.TemporaryDirectory() as folder:
        losses, damaged = event_files(rng, pathlib.Path(folder))
        _, summary = read("tensorboard", folder)
        got = {point["iteration"]: point["loss"] for point in summary["curve"]}
        if got != losses or summary["damaged"] != damaged:
            differing = {step for step in {*got, *losses} if got.get(step) != losses.get(step)}
            return [f"event files: steps {sorted(differing)[:9]} differ; damaged "
                    f"{summary['damaged']} instead of {damaged}: {summary['last']}"]
    return []


def check_json_lines(rng):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "0.progress")
        expected, damaged, lines = [], 0, []
        for _ in range(rng.randrange(200)):
            if rng.random() < 0.1:
                lines.append(rng.choice(["", "{", "[1]", '{"iteration": -1}', '{"loss": 1}', "x" * 70000]))
                damaged += lines[-1] != ""
                continue
            value = rng.choice([rng.random(), math.inf, -math.inf, math.nan, -1e300, 5])
            point = {"iteration": rng.randrange(10**9), "loss": value}
            lines.append(json.dumps({**point, "note": rng.choice(["NaN", 'a "b', None, [{}]])}))
            if not math.isfinite(value):
                point = {"iteration": point["iteration"], "diverged": True}
            expected.append(point)
        path.write_text("".join(line + rng.choice(["\n", "\r\n"]) for line in lines))
        points, summary = read("json", path)
        if points != expected or summary["damaged"] != damaged:
            return [f"progress file: {len(points)} points instead of {len(expected)}, damaged "
                    f"{summary['damaged']} instead of {damaged}: {summary['last']}"]
    return []


def main():
    problems = []
    for seed in range(30):
        rng = random.Random(seed)
        problems += [f"seed {seed}: {p}" for p in check_event_files(rng) + check_json_lines(rng)]
    print("\n".join(problems) or "30 runs of event files and progress files: as written")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
