#!/usr/bin/env python3
"""Builds the benchmarks, runs each case in a process of its own, and prints one table; stores and compares results.

    tools/bench_report.py                         all cases
    tools/bench_report.py --filter '^scenario/'   some of them (regular expression)
    tools/bench_report.py --json now.json         store the figures
    tools/bench_report.py --against before.json   ratios to stored figures
    tools/bench_report.py --no-simgrid            leave out SimGrid even if its driver is built

Times are CPU seconds of the process, all threads together. Where a case lasts less than half a second, Google
Benchmark repeats it. A difference in simulated time between two commits is marked: such commits do not compute the same.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build", "bench")
BENCH = os.path.join(BUILD, "tests", "bench", "ringwright_bench")
SIMGRID = os.path.join(BUILD, "tests", "peers", "simgrid", "simgrid_peer")

# Targets of the design: CPU seconds, and MiB where given.
TARGETS = {
    "step/16384/dmodk": (1.2, 64),
    "step/16384/node-mod": (1.2, 64),
    "step/16384/hash": (5.0, None),
    "play_folded/16384/node-mod": (0.1, None),
    "play_folded/131072/node-mod": (1.0, None),
    "scenario/llama3-405b-16k-h100": (2.0, None),
    "scenario/gpt3-175b-1024-a100": (0.1, None),
    "predict/llama3_70b_m64": (0.001, None),
    "predict/llama3_70b_m128": (0.001, None),
    "predict/gpt3_175b_m512": (0.001, None),
    "scenario/scale-1m-h100": (60.0, 8192),
}
# Minimum ratio of SimGrid's CPU seconds to ours.
PEER_TARGETS = {"ring/256": 20}
# Parts of the engine, and the formula stage of searches (an item is a layout): measured per item and not per run.
PARTS = re.compile(r"^(event_queue_hold|completion_queue_hold|full_solve|judge)/")


def run(command, limit=None):
    return subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)


def build():
    for command in (["cmake", "--preset", "bench"], ["cmake", "--build", "--preset", "bench"]):
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{result.stdout[-4000:]}{result.stderr[-4000:]}")


def list_cases(pattern):
    names = run([BENCH, "--benchmark_list_tests"]).stdout.split()
    return [name for name in names if re.search(pattern, name.removesuffix("/process_time"))]


def play(name, limit):
    command = [BENCH, "--benchmark_format=json", f"--benchmark_filter=^{name}$"]  # no special characters
    try:
        result = run(command, limit)
    except subprocess.TimeoutExpired:
        return {"error": f"not done in {limit:g} s"}
    if result.returncode != 0:
        return {"error": (result.stderr.strip().splitlines() or ["failed"])[-1]}
    entry = json.loads(result.stdout)["benchmarks"][0]
    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[entry["time_unit"]]
    known = ("ranks", "classes", "flows", "events", "flows/s", "peak_MiB", "simulated_s", "items_per_second",
             "run_s", "rounds")
    return {"cpu_s": entry["cpu_time"] * scale} | {key: entry[key] for key in known if key in entry}


def play_simgrid(name, limit):
    try:
        result = run([SIMGRID, name], limit)
    except subprocess.TimeoutExpired:
        return {"error": f"not done in {limit:g} s"}
    if result.returncode != 0:
        return {"error": (result.stderr.strip().splitlines() or ["failed"])[-1]}
    return json.loads(result.stdout.strip().splitlines()[-1])


def number(value, digits=4):
    if value is None:
        return "-"
    if abs(value) >= 1e6:
        return f"{value / 1e6:.{digits}g} M"
    return f"{value:.{digits}g}" if value < 1e4 else f"{value:,.0f}"


def print_table(head, rows):
    widths = [max(len(str(row[i])) for row in [head] + rows) for i in range(len(head))]
    for index, row in enumerate([head] + rows):
        cells = [str(row[0]).ljust(widths[0])] + [str(c).rjust(w) for c, w in zip(row[1:], widths[1:])]
        print("| " + " | ".join(cells) + " |")
        if index == 0:
            print("|" + "|".join("-" * (w + 2) for w in widths) + "|")
    print()


def target_text(name, case):
    if name not in TARGETS:
        return ""
    seconds, mebibytes = TARGETS[name]
    met = case["cpu_s"] <= seconds and (mebibytes is None or case["peak_MiB"] <= mebibytes)
    text = f"{seconds:g} s" + (f", {mebibytes} MiB" if mebibytes else "")
    return f"{text}: {'met' if met else 'MISSED'}"


def show_cases(cases):
    rows = []
    for name, case in cases.items():
        if PARTS.match(name):
            continue
        if "error" in case:
            rows.append([name] + [""] * 7 + [case["error"], ""])
            continue
        rows.append([name] + [number(case.get(key)) for key in ("ranks", "classes", "flows", "events", "cpu_s", "flows/s",
                                                                "peak_MiB")]
                    + [f"{case['simulated_s']:.12g}" if "simulated_s" in case else "-", target_text(name, case)])
    if rows:
        print_table(["case", "ranks", "classes", "flows", "events", "CPU s", "flows/s", "peak MiB", "simulated s",
                     "target"], rows)
    parts = [[name, number(1e9 / case["items_per_second"])] for name, case in cases.items()
             if PARTS.match(name) and "items_per_second" in case]
    if parts:
        print_table(["part", "ns per item"], parts)


def peer_target_text(name, ours, theirs):
    if name not in PEER_TARGETS:
        return ""
    met = theirs["cpu_s"] >= PEER_TARGETS[name] * ours["cpu_s"]
    return f"{PEER_TARGETS[name]} x: {'met' if met else 'MISSED'}"


def show_simgrid(cases, peers):
    rows = []
    for name, theirs in peers.items():
        ours = cases[name]
        if "error" in theirs or "error" in ours:
            rows.append([name, number(ours.get("cpu_s")), theirs.get("error", ""), "", "", "", ""])
            continue
        difference = abs(ours["simulated_s"] - theirs["simulated_s"]) / theirs["simulated_s"]
        rows.append([name, number(ours["cpu_s"]), number(theirs["cpu_s"]), f"{theirs['cpu_s'] / ours['cpu_s']:.0f} x",
                     f"{theirs['simulated_s']:.12g}", f"{difference:.1e}", peer_target_text(name, ours, theirs)])
    if rows:
        print_table(["case", "our CPU s", "SimGrid CPU s", "ratio", "SimGrid's simulated s", "relative difference",
                     "target"], rows)


def show_ratios(cases, before):
    rows = []
    for name, case in cases.items():
        old = before.get(name)
        if old is None or "error" in old or "error" in case:
            continue
        ratio = lambda key: f"{case[key] / old[key]:.2f}" if old.get(key) and case.get(key) else "-"
        same = case.get("simulated_s") == old.get("simulated_s")
        rows.append([name, number(old["cpu_s"]), number(case["cpu_s"]), ratio("cpu_s"), ratio("peak_MiB"),
                     "same" if same else f"DIFFERS: {old.get('simulated_s')} -> {case.get('simulated_s')}"])
    if rows:
        print_table(["case", "CPU s then", "now", "now / then", "peak MiB, now / then", "simulated time"], rows)


def machine():
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), model)
    except OSError:
        pass
    return {"cpu": model, "cores": os.cpu_count(), "load": os.getloadavg()[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="", help="regular expression on case names")
    parser.add_argument("--json", metavar="FILE", help="store the figures in FILE")
    parser.add_argument("--against", metavar="FILE", help="compare with stored figures")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds of wall time a case may take")
    parser.add_argument("--no-build", action="store_true", help="use the benchmarks that are already built")
    parser.add_argument("--no-simgrid", action="store_true")
    options = parser.parse_args()
    if not options.no_build:
        build()
    here = machine()
    cases = {}
    peers = {}
    for benchmark in list_cases(options.filter):
        name = benchmark.removesuffix("/process_time")
        print(f"... {name}", file=sys.stderr)
        cases[name] = play(benchmark, options.limit)
        if os.path.exists(SIMGRID) and not options.no_simgrid and re.match(r"(ring|a2a|a2abar|perm|step)/", name):
            theirs = play_simgrid(name, options.limit)
            if "no such case" not in theirs.get("error", ""):
                peers[name] = theirs
    if not cases:
        sys.exit("no case matches the filter")
    print(f"{here['cpu']}, {here['cores']} cores, load {here['load']:.1f} at the start\n")
    show_cases(cases)
    show_simgrid(cases, peers)
    if options.against:
        with open(options.against, encoding="utf-8") as file:
            show_ratios(cases, json.load(file)["cases"])
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"machine": here, "cases": cases, "simgrid": peers}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
