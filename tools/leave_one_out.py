#!/usr/bin/env python3
"""How well collectives of a machine that was never measured are predicted: every machine in turn is left out.

    tools/leave_one_out.py build/release/ringwright [--page] [--fits FILE]
    tools/leave_one_out.py build/release/ringwright --training [--page] [--results FOLDER]

The constants of classes are made without any log of the machine (tools/class_values.py), and its logs are simulated with
them. Where a machine has logs that its profile is not fitted on, those are also predicted from the ones that it is fitted on
(of the fewest hosts), beginning with the same constants. Machines that are in no list were never fitted on. With --page the
table goes into validation/nccl/leave_one_out.md, the head of the page of collectives, and the errors by kind into
validation/left_out_errors.csv, which `ringwright collective` prints. --fits keeps the fits of single machines in a file.

--training: the same for training steps, where sources and models are left out (tools/left_out_training.py); --page writes
validation/training/leave_one_out.md and validation/left_out_training.csv, which `ringwright run` prints; --results keeps the
simulations in a folder.
"""
import json
import math
import pathlib
import pickle
import subprocess
import sys
import tempfile

import class_values
import left_out_training

ROOT = class_values.ROOT
BANDS = ["below 64 KiB", "64 KiB to 64 MiB", "64 MiB and above"]
LIMITS = [64 << 10, 64 << 20]
# Logs out of which a rule was read that no source states: by themselves they are shown, in means they do not count.
READ_OUT = {"oci_gb200_n32_all_reduce": "no NVLS trees between NVLink domains of more than 32 GPUs"}


def logs_by_machine(binary):
    """The logs of each machine of the list; the others by themselves."""
    groups = {}
    files = sorted(str(file) for file in class_values.LOGS.glob("*.csv"))
    for log in class_values.replayed(binary, files, "--profile", "none", "--classes", "none"):
        groups.setdefault(log["of"] or pathlib.Path(log["log"]).stem, []).append(pathlib.Path(log["log"]).stem)
    return groups


class Errors:
    """Logarithms of simulated over measured times, by kind and band."""

    def __init__(self):
        self.rows = {}

    def add(self, log, machine):
        for row in log["rows"]:
            band = sum(row["size"] >= limit for limit in LIMITS)
            error = math.log(row["simulated_us"] / row["measured_us"])
            self.rows.setdefault((log["transport"], machine, log["log"], band), []).append(error)

    def of(self, band, **wanted):
        """By log: the means of the absolute errors, and of the errors."""
        chosen = [errors for (transport, machine, log, at), errors in self.rows.items()
                  if at == band and wanted.get("transport", transport) == transport
                  and ("machine" in wanted or log not in READ_OUT)
                  and wanted.get("machine", machine) == machine]
        return ([sum(map(abs, errors)) / len(errors) for errors in chosen], [sum(errors) / len(errors) for errors in chosen])

    def cell(self, band, **wanted):
        absolute, signed = self.of(band, **wanted)
        if not absolute:
            return "-"
        return f"{percent(mean(absolute)):.0f} % ({percent(mean(signed)):+.0f})"


def mean(values):
    return sum(values) / len(values)


def percent(logarithm):
    return 100 * math.expm1(logarithm)


def predicted(binary, machine, logs, classes):
    """The logs that the machine is not fitted on, with constants fitted to the others."""
    fitted = machine["fitted"].split()
    rest = [log for log in logs if log not in fitted]
    if not rest:
        return []
    with tempfile.NamedTemporaryFile(suffix=".yaml") as profile:
        answer = subprocess.run([binary, "calibrate", "nccl", *map(class_values.path_of, fitted), "--classes", classes, "-q", "-o",
                                 profile.name], text=True, capture_output=True)
        if answer.returncode not in (0, 5):
            sys.exit(answer.stderr)
        return class_values.replayed(binary, map(class_values.path_of, rest), "--profile", profile.name, "--classes", classes)


def table(binary, fits):
    planned, left_out, few = Errors(), Errors(), Errors()
    known = {machine["machine"]: machine for machine in class_values.machines()}
    groups = logs_by_machine(binary)
    for name, logs in groups.items():
        files = list(map(class_values.path_of, logs))
        for log in class_values.replayed(binary, files, "--profile", "none", "--classes", "none"):
            planned.add(log, name)
        with tempfile.TemporaryDirectory() as folder:
            fits.write(folder, without=name)
            for log in class_values.replayed(binary, files, "--profile", "none", "--classes", folder):
                left_out.add(log, name)
            for log in predicted(binary, known[name], logs, folder) if name in known else []:
                few.add(log, name)
        print(f"{name}: {' '.join(left_out.cell(band, machine=name) for band in range(3))}", file=sys.stderr, flush=True)
    return planned, left_out, few, groups


def lines_of(errors, groups):
    columns = [("planning", errors[0]), ("others only", errors[1]), ("fewest hosts", errors[2])]
    titles = [f"{band}: {name}" for band in ("< 64 KiB", "to 64 MiB", "above") for name, _ in columns]
    head = ["| " + " | ".join(["KIND", "logs", *titles]) + " |", "|---" * (len(titles) + 2) + "|"]

    def row(name, count, **wanted):
        cells = [of.cell(band, **wanted) for band in range(3) for _, of in columns]
        return f"| {name} | {count} | " + " | ".join(cells) + " |"

    transports = sorted({key[0] for key in errors[1].rows})
    by_network = [line.replace("KIND", "network") for line in head]
    for transport in transports:
        logs = len({key[2] for key in errors[1].rows if key[0] == transport} - set(READ_OUT))
        by_network.append(row(transport.replace("none", "within a host"), logs, transport=transport))
    by_network.append(row("all", len({log for logs in groups.values() for log in logs} - set(READ_OUT))))
    by_machine = [line.replace("KIND", "machine") for line in head]
    for name, logs in groups.items():
        by_machine.append(row(name, len(logs), machine=name))
    return by_network, by_machine


def csv_of(errors):
    text = ("# Errors that leave-one-machine-out found for collectives, by what moves messages between hosts (none: within\n"
            "# one) and size: means over logs of the logarithm of simulated over measured. Made by tools/leave_one_out.py.\n"
            "transport,band,logs,machines,error,bias\n")
    for transport in sorted({key[0] for key in errors.rows}):
        for band, name in enumerate(BANDS):
            absolute, signed = errors.of(band, transport=transport)
            if not absolute:
                continue
            of = {key[1] for key in errors.rows if key[0] == transport and key[3] == band and key[2] not in READ_OUT}
            text += f"{transport},{name},{len(absolute)},{len(of)},{math.expm1(mean(absolute)):.3f},{math.expm1(mean(signed)):.3f}\n"
    return text


def main():
    if "--training" in sys.argv:
        folder = sys.argv[sys.argv.index("--results") + 1] if "--results" in sys.argv else None
        words = [a for a in sys.argv[1:] if a not in ("--training", "--page", "--results", folder)]
        if len(words) != 1:
            sys.exit(__doc__)
        return left_out_training.main(words[0], "--page" in sys.argv, folder)
    arguments = [a for a in sys.argv[1:] if a not in ("--page", "--fits")]
    cache = pathlib.Path(sys.argv[sys.argv.index("--fits") + 1]) if "--fits" in sys.argv else None
    if cache:
        arguments.remove(str(cache))
    if len(arguments) != 1:
        sys.exit(__doc__)
    binary = arguments[0]
    if cache and cache.exists():
        fits = pickle.loads(cache.read_bytes())
    else:
        fits = class_values.all_fits(binary)
        if cache:
            cache.write_bytes(pickle.dumps(fits))
    *errors, groups = table(binary, fits)
    by_network, by_machine = lines_of(errors, groups)
    print("\n".join(by_network + [""] + by_machine))
    if "--page" in sys.argv:
        text = ["## Held-out machines", "",
                "Mean over logs of the absolute error, with the signed mean in brackets (- is too fast); each machine in turn is held",
                "out. *Planning*: without any log. *Others only*: class constants from the logs of other machines, which is what",
                "`run` and `collective` give on a new machine. *Fewest hosts*: fitted to the machine's logs of the fewest hosts; its",
                "other logs are predicted. Generated by `tools/leave_one_out.py build/release/ringwright --page`.", ""]
        read = [f"* {log}: {rule}" for log, rule in READ_OUT.items()]
        page = text + by_network + ["", "Not counted, since a rule was inferred from them:", ""] + read
        page += ["", "By machine:", ""] + by_machine
        (class_values.LOGS / "leave_one_out.md").write_text("\n".join(page) + "\n")
        (ROOT / "validation" / "left_out_errors.csv").write_text(csv_of(errors[1]))


if __name__ == "__main__":
    main()
