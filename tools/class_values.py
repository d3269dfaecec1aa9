#!/usr/bin/env python3
"""Regenerates the constants that machines of a class begin with: configs/costs/CLASS.yaml.

    tools/class_values.py build/release/ringwright

A class is a generation of GPUs for the constants of kernels, what moves messages between hosts for those of networks, or
both, since processors and PCIe of hosts are those of their GPUs' time (ampere-infiniband, where two machines have it). Each
machine of validation/machines.csv is fitted alone (`ringwright calibrate nccl`): on its logs of one host and of several
together where it has both; on one host its kernels; on several its network, with the kernels of its class. The
class's value is the median over the machines whose logs feel a constant (of a network: over generations, of their medians);
the range over the machines stands next to it. Logs that
machines are only evaluated on (not listed as `fitted`) are not used. Shares of nominal rates are known (configs/nodes).
"""
import csv
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "configs" / "costs"
LOGS = ROOT / "validation" / "nccl"
GENERATIONS = {"volta": ["v100"], "ampere": ["a100", "a100-pcie"], "hopper": ["h100", "h200", "gh200"],
               "blackwell": ["b200", "gb200"], "cdna3": ["mi300x"]}
# Classes that share their machines: InfiniBand and RoCE are one transport of NCCL (net_ib), Google's plug-in is a variant.
NETWORKS = {"infiniband": ["infiniband", "roce"], "roce": ["infiniband", "roce"], "gib": ["gib"], "efa": ["efa"],
            "tcp": ["tcp"], "tcpx": ["tcpx"], "fastrak": ["fastrak"],
            "slingshot_software": ["slingshot_software"], "slingshot": ["slingshot"]}
# Its source calls the latency of its two hosts unusual (220 us).
NOT_TYPICAL = ["mi300x_n2_all_reduce"]
OF_NETWORK = "comm.costs.network."
# A library of that time sets up each channel separately; later ones hardly take any time for it (class_costs.cc).
OF_OLD_LIBRARIES = {"launch_channel": ["volta", "ampere"]}


def machines():
    lines = (ROOT / "validation" / "machines.csv").read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def replayed(binary, files, *options):
    answer = subprocess.run([binary, "validate", "nccl", "--json", "-q", *options, *files], text=True, capture_output=True)
    if answer.returncode not in (0, 5):
        sys.exit(answer.stderr)
    return json.loads(answer.stdout)["logs"]


def path_of(log):
    return str(LOGS / f"{log}.csv")


def transports(binary, logs):
    """What moves the messages of each log: `none` within a host."""
    answer = replayed(binary, [path_of(log) for log in logs], "--profile", "none", "--classes", "none")
    return {pathlib.Path(log["log"]).stem: log["transport"] for log in answer}


def fit(binary, logs, only, classes):
    with tempfile.NamedTemporaryFile(suffix=".yaml") as profile:
        command = [binary, "calibrate", "nccl", *map(path_of, logs), "--only", only, "--classes", classes, "--json", "-q", "-o",
                   profile.name]
        answer = subprocess.run(command, text=True, capture_output=True)
    if answer.returncode not in (0, 5):
        sys.exit(answer.stderr)
    found = json.loads(answer.stdout)
    return found["constants"] | found["felt"]


def number_and_unit(value):
    number, unit = re.fullmatch(r"([0-9.eE+-]+)(.*)", value).groups()
    return float(number), unit


def median(values):
    """Of positive numbers; between the two in the middle their geometric mean."""
    return math.exp(statistics.median(math.log(value) for value in values))


class Fits:
    """Every machine's constants, fitted alone, by part (kernels, network) and machine: {path: value}."""

    def __init__(self, binary):
        self.binary = binary
        logs = [log for machine in machines() for log in machine["fitted"].split()]
        self.transport = transports(binary, logs)
        self.kernels = {}
        self.network = {}

    def logs(self, machine, inside):
        return [log for log in machine["fitted"].split()
                if log not in NOT_TYPICAL and (self.transport[log] == "none") == inside]

    def generation(self, machine):
        return next(name for name, gpus in GENERATIONS.items() if machine["gpu"] in gpus)

    def fit_machines(self, classes):
        """The machines with logs of one host, those with several as well at once."""
        for machine in machines():
            inside, between = self.logs(machine, True), self.logs(machine, False)
            if not inside:
                continue
            found = fit(self.binary, inside + between, "costs" if between else "kernels", classes)
            self.kernels[machine["machine"]] = {path: v for path, v in found.items() if not path.startswith(OF_NETWORK)}
            if between:
                self.network[machine["machine"]] = {path: v for path, v in found.items() if path.startswith(OF_NETWORK)}
            print(f"{machine['machine']}: {found}", file=sys.stderr, flush=True)

    def fit_networks(self, classes):
        """The others."""
        for machine in machines():
            if machine["machine"] not in self.kernels and (logs := self.logs(machine, False)):
                self.network[machine["machine"]] = fit(self.binary, logs, "network", classes)
                print(f"{machine['machine']}: {self.network[machine['machine']]}", file=sys.stderr, flush=True)

    def members(self, name, without=None):
        """The machines of a class, with their constants."""
        if name in GENERATIONS:
            chosen = [m for m in machines() if m["gpu"] in GENERATIONS[name] and m["machine"] in self.kernels]
            fits = self.kernels
        else:
            generation, _, network = name.rpartition("-")
            chosen = [m for m in machines() if m["machine"] in self.network
                      and self.transport[self.logs(m, False)[0]] in NETWORKS[network]
                      and generation in ("", self.generation(m))]
            fits = self.network
        return [(m, fits[m["machine"]]) for m in chosen if m["machine"] != without]

    def constants(self, name, without=None):
        """{path: (median, least, most, machines)} of a class."""
        found = {}
        for machine, constants in self.members(name, without):
            for path, value in constants.items():
                if name not in OF_OLD_LIBRARIES.get(path.removeprefix("comm.costs."), []):
                    found.setdefault(path.removeprefix("comm.costs."), []).append((*number_and_unit(value), machine))
        result = {}
        for path, values in found.items():
            if "-" in name and len(values) < 2:
                continue
            generations = {}
            for value, _, machine in values:
                generations.setdefault(self.generation(machine), []).append(value)
            middle = median([median(of) for of in generations.values()])
            numbers = [value for value, _, _ in values]
            result[path] = (f"{middle:.3g}{values[0][1]}", min(numbers), max(numbers),
                            [machine["machine"] for _, _, machine in values])
        return result

    def text(self, name, without=None):
        constants = self.constants(name, without)
        of = sorted({machine for *_, names in constants.values() for machine in names})
        tree = {}
        for path, entry in constants.items():
            *maps, key = path.split(".")
            below = tree
            for part in maps:
                below = below.setdefault(part, {})
            below[key] = ranged(*entry)
        if not tree:
            return ""
        source = f"medians of fits to logs of {', '.join(of)} (validation/machines.csv)"
        return (f"# Constants that collectives of the class {name} begin with: {source}.\n"
                "# Made by tools/class_values.py; the range over the machines stands next to a value.\n"
                f"evidence: calibrated\nsource: \"{source}\"\n\ncosts:\n" + lines_of(tree, 2))

    def write(self, folder, without=None):
        folder = pathlib.Path(folder)
        both = [f"{generation}-{network}" for generation in GENERATIONS for network in NETWORKS]
        for name in [*GENERATIONS, *NETWORKS, *both]:
            text = self.text(name, without)
            if text:
                (folder / f"{name}.yaml").write_text(text)
            else:
                (folder / f"{name}.yaml").unlink(missing_ok=True)



def ranged(value, least, most, of):
    unit = number_and_unit(value)[1]
    return f"{value}  # {least:.3g} to {most:.3g} {unit} on {len(of)} machines" if len(of) > 1 else f"{value}  # {of[0]}"


def lines_of(tree, indent):
    text = ""
    for key, value in tree.items():
        text += " " * indent + key + ":" + ("\n" + lines_of(value, indent + 2) if isinstance(value, dict) else f" {value}\n")
    return text


def all_fits(binary):
    """Fits begin at planning values, those of networks alone with the kernels that were found."""
    fits = Fits(binary)
    with tempfile.TemporaryDirectory() as folder:
        fits.fit_machines("none")
        fits.write(folder)
        fits.fit_networks(folder)
    return fits


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    OUT.mkdir(exist_ok=True)
    all_fits(sys.argv[1]).write(OUT)


if __name__ == "__main__":
    main()
