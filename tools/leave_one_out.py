#!/usr/bin/env python3
"""The effect of the evaluated machine on its class values: errors with and without it in its class.

    tools/leave_one_out.py build/release/ringwright [--page]

Class values are fitted over the logs of all machines of a class (tools/class_values.py). Each machine's logs are
simulated with the shipped ones, and with values fitted in the same way without any log of that machine. With --page the
table goes into validation/nccl/leave_one_out.md, which is the end of the page of collectives.
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import class_values

ROOT = pathlib.Path(__file__).resolve().parent.parent
BANDS = ["below 64 KiB", "64 KiB to 64 MiB", "64 MiB and above"]
def play(binary, logs, classes="shipped", profile="none"):
    command = [binary, "validate", "nccl", "--json", "-q", "--classes", classes] + (["--profile", profile] if profile else [])
    answer = subprocess.run(command + logs, text=True, capture_output=True)
    if answer.returncode not in (0, 5):
        sys.exit(answer.stderr)
    return json.loads(answer.stdout)


def errors(answer):
    bands = next(p for p in answer["platforms"] if p["platform"] == "all")["bands"]
    return [(bands[b]["simulated"]["geometric_mean_abs"], bands[b]["simulated"]["rows"]) for b in BANDS]


def logs_by_machine(binary):
    """The logs of each machine."""
    logs = {}
    for log in play(binary, [], profile=None)["logs"]:
        if log.get("profile"):
            logs.setdefault(log["profile"], []).append(str(ROOT / "validation" / "nccl" / log["log"]))
    return logs


def without(classes, machine, known):
    """A file with the values of classes fitted without the machine."""
    file = tempfile.NamedTemporaryFile("w", suffix=".csv")
    file.write(class_values.text_of(classes.make(machine, known)))
    file.flush()
    return file


def cell(pair):
    return f"{100 * pair[0]:.1f} %" if pair[1] else "-"


def mean(pairs):
    """Over machines with equal weight: geometric mean of the errors' factors."""
    kept = [math.log1p(error) for error, rows in pairs if rows]
    return (math.expm1(sum(kept) / len(kept)), 1) if kept else (0.0, 0)


def table(binary):
    logs = logs_by_machine(binary)
    classes = class_values.Classes(binary)
    known = class_values.shipped_rows()
    lines = ["| machine | class | < 64 KiB: own profile | all of the class | others only | to 64 MiB: own profile "
             "| all of the class | others only | above: own profile | all of the class | others only |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    columns = [[] for _ in range(9)]
    for entry in class_values.machines():
        machine = entry["machine"]
        names = [name for name, of in {**classes.kernels, **classes.networks}.items() if machine in dict(of)]
        with without(classes, machine, known) as others:
            runs = [errors(play(binary, logs[machine], profile=None)), errors(play(binary, logs[machine])),
                    errors(play(binary, logs[machine], others.name))]
        cells = [runs[run][band] for band in range(3) for run in range(3)]
        for column, pair in zip(columns, cells):
            column.append(pair)
        lines.append(f"| {machine} | {', '.join(names) or '-'} | " + " | ".join(map(cell, cells)) + " |")
    lines.append("| all | | " + " | ".join(cell(mean(column)) for column in columns) + " |")
    return lines


def main():
    arguments = [a for a in sys.argv[1:] if a != "--page"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    lines = table(arguments[0])
    print("\n".join(lines))
    if "--page" in sys.argv:
        text = ["## What class values owe to the machine that is scored", "",
                "Values of classes are one fit over the logs of all machines of a generation of GPUs, and of a kind of network.",
                "*All of the class* are the shipped ones, *others only* are fitted in the same way without any log of the machine;",
                "where its class has no other machine, planning values are used. Made by",
                "`tools/leave_one_out.py build/release/ringwright --page`.", ""]
        (ROOT / "validation" / "nccl" / "leave_one_out.md").write_text("\n".join(text + lines) + "\n")


if __name__ == "__main__":
    main()
