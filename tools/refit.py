#!/usr/bin/env python3
"""Regenerates the shipped profiles of collectives: one per machine of validation/machines.csv, from its fitted logs.

Constants of classes, from which fits start, come first: tools/class_values.py. A fit that leaves much over (exit code 5) is
reported and written.

    tools/refit.py build/release/ringwright [MACHINE...]

Afterwards `ringwright validate nccl --markdown docs/validation-collectives.md` regenerates the page.
"""
import csv
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def machines():
    lines = (ROOT / "validation" / "machines.csv").read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    binary, wanted = sys.argv[1], sys.argv[2:]
    known = [machine["machine"] for machine in machines()]
    strange = [name for name in wanted if name not in known]
    if strange:
        sys.exit(f"no machine of that name: {', '.join(strange)}; machines: {', '.join(known)}")
    for machine in machines():
        name = machine["machine"]
        if wanted and name not in wanted:
            continue
        logs = [str(ROOT / "validation" / "nccl" / f"{log}.csv") for log in machine["fitted"].split()]
        profile = ROOT / "configs" / "profiles" / f"{name}.yaml"
        answer = subprocess.run([binary, "calibrate", "nccl", *logs, "-o", str(profile)], text=True, capture_output=True)
        if answer.returncode not in (0, 5):
            sys.exit(f"{name}: {answer.stderr}")
        print(answer.stderr, end="", file=sys.stderr)
        print(f"{name}: {answer.stdout.splitlines()[0]}", flush=True)


if __name__ == "__main__":
    main()
