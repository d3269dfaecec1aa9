#!/usr/bin/env python3
"""How much class values owe to the machine that is scored: errors with and without it in its class.

    tools/leave_one_out.py build/release/ringwright [--page]

A class is a generation of GPU with machines of which profiles are shipped. Its values are the geometric means of what their
profiles determine. Each machine's logs are played with the values of all machines of its class, and with those of the
others alone, which never saw it. With --page the table goes into validation/nccl/leave_one_out.md, which the page of
collectives ends with.
"""
import json
import math
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BANDS = ["below 64 KiB", "64 KiB to 64 MiB", "64 MiB and above"]
CLASSES = {
    "V100": ["abci-v100", "v100-cube"],
    "A100, NVLink": ["abci-a100", "azure-aks-a100", "azure-nd-a100", "oci-a100", "stas-a100", "superbench-a100"],
    "Hopper": ["azure-nd-h100", "azure-nd-h200", "dgxc-h100", "gcp-a3-high", "simumax-h100", "stas-h200"],
    "Blackwell": ["aws-p6-b200", "azure-nd-gb200", "gcp-a4", "stas-b200"],
}


def constants_of(machine):
    """What a profile determines: path -> (number, unit)."""
    found, path = {}, []
    for line in (ROOT / "configs" / "profiles" / f"{machine}.yaml").read_text().splitlines():
        match = re.match(r"( *)(\w+):(?: +(.*))?$", line)
        if not match:
            continue
        depth = len(match[1]) // 2
        path = path[:depth] + [match[2]]
        value = re.fullmatch(r"([0-9.]+)(us|GB/s|%)", match[3] or "")
        if value:
            found[".".join(path)] = (float(value[1]), value[2])
    return found


def class_values(machines, of, networks):
    """Geometric means over machines, as overrides for one of them; constants of networks from those on the same one."""
    values = {}
    for machine in machines:
        for path, (number, unit) in constants_of(machine).items():
            if (".network." in path or ".nic." in path) and not networks[machine] & networks[of]:
                continue
            values.setdefault(path, (unit, []))[1].append(number)
    return [f"{path}={math.exp(sum(map(math.log, numbers)) / len(numbers)):.4g}{unit}"
            for path, (unit, numbers) in sorted(values.items())]


def play(binary, logs, overrides=(), profile="none"):
    command = [binary, "validate", "nccl", "--json", "-q"] + (["--profile", profile] if profile else [])
    for override in overrides:
        command += ["--set", override]
    answer = subprocess.run(command + logs, text=True, capture_output=True)
    if answer.returncode not in (0, 5):
        sys.exit(answer.stderr)
    return json.loads(answer.stdout)


def errors(answer):
    bands = next(p for p in answer["platforms"] if p["platform"] == "all")["bands"]
    return [(bands[b]["simulated"]["geometric_mean_abs"], bands[b]["simulated"]["rows"]) for b in BANDS]


def logs_by_machine(binary):
    """The logs of each machine, and the networks that it has."""
    logs, networks = {}, {}
    for log in play(binary, [], profile=None)["logs"]:
        if log.get("profile"):
            logs.setdefault(log["profile"], []).append(str(ROOT / "validation" / "nccl" / log["log"]))
            networks.setdefault(log["profile"], set()).add(log["machine"].rsplit(", ", 1)[1])
    return logs, {machine: found - {"none"} for machine, found in networks.items()}


def cell(pair):
    return f"{100 * pair[0]:.1f} %" if pair[1] else "-"


def mean(pairs):
    """Over machines alike: geometric mean of the errors' factors."""
    kept = [math.log1p(error) for error, rows in pairs if rows]
    return (math.expm1(sum(kept) / len(kept)), 1) if kept else (0.0, 0)


def table(binary):
    logs, networks = logs_by_machine(binary)
    lines = ["| machine | class | < 64 KiB: own profile | all of the class | others only | to 64 MiB: own profile "
             "| all of the class | others only | above: own profile | all of the class | others only |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    columns = [[] for _ in range(9)]
    for name, machines in CLASSES.items():
        for machine in machines:
            others = [m for m in machines if m != machine]
            runs = [errors(play(binary, logs[machine], profile=None)),
                    errors(play(binary, logs[machine], class_values(machines, machine, networks))),
                    errors(play(binary, logs[machine], class_values(others, machine, networks)))]
            cells = [runs[run][band] for band in range(3) for run in range(3)]
            for column, pair in zip(columns, cells):
                column.append(pair)
            lines.append(f"| {machine} | {name} | " + " | ".join(map(cell, cells)) + " |")
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
                "Class values here are geometric means over the profiles of a class, a generation of GPUs; those of networks over",
                "machines on the same kind. *All of the class* contains the machine's own profile, *others only* never saw it. Below",
                "64 KiB a class mixes hosts with one process a GPU and hosts with one for all, which no mean can meet; where a class",
                "has two machines, the other one alone is the class. Made by",
                "`tools/leave_one_out.py build/release/ringwright --page`.", ""]
        (ROOT / "validation" / "nccl" / "leave_one_out.md").write_text("\n".join(text + lines) + "\n")


if __name__ == "__main__":
    main()
