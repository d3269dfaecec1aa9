#!/usr/bin/env python3
"""Regenerates the class values in validation/class_values.csv, and those of GPUs as profiles configs/profiles/class-*.yaml.

    tools/class_values.py build/release/ringwright
    tools/class_values.py --profiles                 the profiles only, from the values as they are

A class is a generation of GPUs or a kind of network. Its constants are one set, fitted over the logs of all of its
machines at once (`ringwright calibrate nccl`), with equal weight per log: those of kernels on logs of one host, starting
from planning values; then those of networks on logs of several hosts, with the kernels' values of their own generations.
Only logs that machines are fitted on are used (validation/machines.csv), so that no class contains a log that machines are
evaluated on. The share of the nominal rate that links and NICs carry follows from their protocols and is known; a lower
rate belongs to a single machine (PCIe, other traffic, settings).
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "validation" / "class_values.csv"
GENERATIONS = {"volta": ["v100"], "ampere": ["a100", "a100-pcie"], "hopper": ["h100", "h200", "gh200"],
               "blackwell": ["b200", "gb200"], "cdna3": ["mi300x"]}
# InfiniBand and RoCE, one transport of the library (net_ib), are no class: its five machines of six years do not agree,
# and four of them predict the fifth worse than planning values do (ABCI's V100 42 % below 64 KiB instead of 20).
NETWORKS = {"slingshot": ["slingshot"], "efa": ["efa"], "tcp": ["tcp"]}
# Its source calls the latency of its two hosts unusual (220 us).
NOT_TYPICAL = ["mi300x_n2_all_reduce"]
HEAD = """# What machines of a class have in common: constants of kernels by generation of GPUs, of messages by kind of network. Each
# class is one fit over the logs of all of its machines (tools/class_values.py makes them again). Evidence: calibrated. A
# constant that is missing is not determined by those logs, and stays at its planning value (docs/collectives.md).
class,constant,value,machines
"""


PROFILE = """# NCCL's kernels on GPUs of the generation {name}, for machines without measurements: one fit over the logs of
# {machines}.
# Made by tools/class_values.py; use it with `preset: class-{name}` at the head of a scenario, or `--set preset=class-{name}`.
evidence: calibrated
source: "fit to logs of {machines} (validation/machines.csv)"

collectives: {{model: chunks}}
cluster:
  node:
    nvlink: {{efficiency: {link}}}
    nic: {{efficiency: 96%}}
comm:
  costs: {{{costs}}}
"""
# Payload share of the nominal rate of links and NICs, as `validate nccl` assumes for machines without a profile: the
# rates that NCCL and RCCL plan with, and that NICs carry (validation/nccl/measured_machine.cc, class_values.cc;
# shipped_profiles_test.cc checks the profiles against them).
LINKS = {"volta": "80%", "ampere": "80%", "hopper": "82.4%", "blackwell": "80.2%", "cdna3": "75%"}
# Their libraries date from a time when each channel cost more; later ones cost less.
OLD_LIBRARIES = ["volta", "ampere"]


def machines():
    lines = (ROOT / "validation" / "machines.csv").read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def head_of(log, key):
    for line in (ROOT / "validation" / "nccl" / f"{log}.csv").read_text().splitlines():
        if line.startswith(f"# {key}:"):
            return line.split(":", 1)[1].strip()
    return ""


def network_of(binary, logs):
    """The kind of each log's network, as `validate` reports it."""
    files = [str(ROOT / "validation" / "nccl" / f"{log}.csv") for log in logs]
    answer = subprocess.run([binary, "validate", "nccl", "--json", "-q", "--profile", "none", "--classes", "none", *files],
                            text=True, capture_output=True)
    if answer.returncode not in (0, 5):
        sys.exit(answer.stderr)
    return {pathlib.Path(log["log"]).stem: log["machine"].rsplit(", ", 1)[1] for log in json.loads(answer.stdout)["logs"]}


def fit(binary, logs, only, classes):
    files = [str(ROOT / "validation" / "nccl" / f"{log}.csv") for log in logs]
    with tempfile.NamedTemporaryFile(suffix=".yaml") as profile:
        answer = subprocess.run([binary, "calibrate", "nccl", *files, "--only", only, "--classes", classes, "--json", "-q", "-o", profile.name], text=True, capture_output=True)
    if answer.returncode != 0:
        sys.exit(answer.stderr)
    return json.loads(answer.stdout)["constants"]


def shipped_rows():
    lines = OUT.read_text().splitlines()
    return [(row["class"], row["constant"], row["value"], row["machines"].split())
            for row in csv.DictReader(line for line in lines if not line.startswith("#"))]


def text_of(rows):
    return HEAD + "".join(f"{name},{path},{value},{' '.join(of)}\n" for name, path, value, of in rows)


class Classes:
    """The logs of each class, by machine."""

    def __init__(self, binary):
        self.binary = binary
        logs = [(machine, log) for machine in machines() for log in machine["fitted"].split() if log not in NOT_TYPICAL]
        kinds = network_of(binary, [log for _, log in logs])
        self.kernels = {name: [(m["machine"], log) for m, log in logs if m["gpu"] in gpus and kinds[log] == "none"]
                        for name, gpus in GENERATIONS.items()}
        self.networks = {name: [(m["machine"], log) for m, log in logs if kinds[log] in of]
                         for name, of in NETWORKS.items()}

    def rows(self, name, logs, only, classes):
        if not logs:
            return []
        found = fit(self.binary, [log for _, log in logs], only, classes)
        of = list(dict.fromkeys(machine for machine, _ in logs))
        return [(name, path, value, of) for path, value in found.items()]

    def make(self, without=None, known=()):
        """The table with no log of the machine `without`; for classes that it is not in, `known` rows are reused."""
        rows = []

        def add(classes, only, file):
            for name, logs in classes.items():
                kept = [row for row in known if row[0] == name]
                others = [(machine, log) for machine, log in logs if machine != without]
                rows.extend(kept if kept and others == logs else self.rows(name, others, only, file))

        add(self.kernels, "kernels", "none")
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as kernels:
            kernels.write(text_of(rows))
            kernels.flush()
            add(self.networks, "network", kernels.name)
        return rows


def write_profiles(rows):
    for name in GENERATIONS:
        values = [(path.removeprefix("comm.costs."), value, of) for kind, path, value, of in rows if kind == name]
        values = [row for row in values if row[0] != "launch_channel" or name not in OLD_LIBRARIES]
        if not values:
            continue
        costs = {}
        for path, value, _ in values:
            group, dot, key = path.rpartition(".")
            costs.setdefault(group, []).append(f"{key}: {value}")
        parts = costs.pop("", []) + [f"{group}: {{{', '.join(keys)}}}" for group, keys in costs.items()]
        text = PROFILE.format(name=name, link=LINKS[name], machines=", ".join(values[0][2]), costs=(",\n" + " " * 10).join(parts))
        (ROOT / "configs" / "profiles" / f"class-{name}.yaml").write_text(text)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--profiles":
        return write_profiles(shipped_rows())
    rows = Classes(sys.argv[1]).make()
    OUT.write_text(text_of(rows))
    write_profiles(rows)
    print(f"{OUT.relative_to(ROOT)}: {len(OUT.read_text().splitlines()) - 4} values")


if __name__ == "__main__":
    main()
