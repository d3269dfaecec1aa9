#!/usr/bin/env python3
"""Compares the time of a collective alone in steps (or another model) with NCCL's kernels chunk by chunk.

    tools/rung_ratios.py                          every shipped node and machine on 1, 2, 4 and 16 hosts
    tools/rung_ratios.py --clusters dgx --hosts 2 some of them (regular expression of clusters)
    tools/rung_ratios.py --rung closed_form       formulas instead of steps
    tools/rung_ratios.py --most 1.10              rows whose largest ratio is above this (1.15)
    tools/rung_ratios.py --limit 10               CPU seconds after which a run is stopped

A row is a cluster, hosts, GPUs of each host and operation: the largest ratio over sizes of 1 KiB to 1 GiB, its size,
and the sizes above the limit. A case that takes longer than --limit is counted as not compared, at the end.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BINARY = os.path.join(ROOT, "build", "release", "ringwright")
# Of single calls: a thread that issues calls in a row does not limit their rate.
LONE_CALLS = ("comm.costs.host.call=0us", "comm.costs.host.channel=0us", "comm.costs.host.peer=0us")
OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast", "reduce", "sendrecv")


def names_of(kind):
    return sorted(file.removesuffix(".yaml") for file in os.listdir(os.path.join(ROOT, "configs", kind)))


def size_text(size):
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size} B"


def run(options, case, rung):
    cluster, hosts, gpus, operation = case
    command = [options.binary, "collective", cluster, operation, "-N", str(hosts), "-b", options.first, "-e",
               options.last, "-f", str(options.factor), "--json", "-p", "1", "--set", f"collectives.model={rung}"]
    if gpus:
        command += ["-g", str(gpus)]
    for setting in [*LONE_CALLS, *options.set]:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (options.limit, options.limit)))
    if done.stdout.startswith("{"):
        return json.loads(done.stdout)["results"]
    return "stopped" if done.returncode < 0 else None


def compared(options, case):
    kernels = run(options, case, "chunks")
    other = run(options, case, options.rung) if isinstance(kernels, list) else None
    if not isinstance(kernels, list) or not isinstance(other, list):
        return None if kernels is None or (isinstance(kernels, list) and other is None) else "stopped"
    rows = []
    for one, two in zip(other, kernels):
        if two["time_us"] > 0:
            rows.append((one["time_us"] / two["time_us"], one["size"], one["algorithm"], two["algorithm"],
                         two["protocol"], two["channels"]))
    return rows


def cases(options):
    clusters = [name for name in names_of("nodes") + names_of("machines") if re.search(options.clusters, name)]
    for cluster in clusters:
        for hosts in options.hosts:
            for gpus in options.gpus:
                for operation in options.operations:
                    yield cluster, hosts, gpus, operation


def whole_numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clusters", default="", help="regular expression of shipped nodes and machines")
    parser.add_argument("--hosts", type=whole_numbers, default=[1, 2, 4, 16])
    parser.add_argument("--gpus", type=whole_numbers, default=[0, 1, 2, 3, 4], help="of each host; 0: all")
    parser.add_argument("--operations", type=lambda text: text.split(","), default=OPERATIONS)
    parser.add_argument("--rung", default="steps", help="compared with chunks: steps, coupled or closed_form")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE for both")
    parser.add_argument("--first", default="1K")
    parser.add_argument("--last", default="1G")
    parser.add_argument("--factor", type=int, default=4)
    parser.add_argument("--most", type=float, default=1.15, help="ratio from which on a row is printed")
    parser.add_argument("--limit", type=int, default=5, help="CPU seconds of a run")
    parser.add_argument("--binary", default=BINARY, help="default: that of build/release")
    options = parser.parse_args()
    print("cluster,hosts,gpus,operation,ratio,size,from,to,algorithm,kernel,protocol,channels")
    counted, above, stopped = 0, 0, []
    for case in cases(options):
        rows = compared(options, case)
        if rows == "stopped":
            stopped.append(case)
        if not isinstance(rows, list) or not rows:
            continue
        counted += 1
        ratio, size, *words = max(rows, key=lambda row: max(row[0], 1 / row[0]))
        far = [row[1] for row in rows if max(row[0], 1 / row[0]) > options.most]
        if far:
            above += 1
            print(*case, f"{ratio:.2f}", size_text(size), size_text(min(far)), size_text(max(far)), *words, sep=",",
                  flush=True)
    print(f"# {counted} cases compared, {above} above {options.most}, {len(stopped)} stopped at {options.limit} s")
    for case in stopped:
        print("# stopped:", *case)
    return 0


if __name__ == "__main__":
    sys.exit(main())
