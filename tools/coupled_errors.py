#!/usr/bin/env python3
"""Compares members of collectives that progress together (collectives.model: coupled) with steps, scenario by scenario.

    tools/coupled_errors.py                     every shipped scenario, with its own routes and with hashed ones
    tools/coupled_errors.py --filter llama3     some of them (regular expression)
    tools/coupled_errors.py --limit 30          CPU seconds after which a run is stopped

Prints the error of the step time, and of the exposed time of each dimension that is exposed for a thousandth of the
step at least. A scenario that takes longer than --limit in steps is listed as not compared.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NO_CACHE = os.environ | {"RINGWRIGHT_CACHE": "off"}  # each run finds the overheads of its calls itself
BINARY = os.path.join(ROOT, "build", "release", "ringwright")
ROUTES = {"own": [], "ecmp": ["cluster.fabric.routing.policy=ecmp"]}
LEAST_SHARE = 1e-3


def run(scenario, settings, options):
    command = [options.binary, "run", scenario, "--json"]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=NO_CACHE,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (options.limit, options.limit)))
    return json.loads(done.stdout) if done.stdout.startswith("{") else None


def error_cells(steps, coupled):
    exposed = []
    for a, b in zip(steps["breakdown"], coupled["breakdown"]):
        if a["dim"] not in ("compute", "idle") and a["share"] >= LEAST_SHARE:
            exposed.append(f"{a['dim']} {b['exposed_s'] / a['exposed_s'] - 1:+.2%}")
    seconds = [figures["engine"]["wall_s"] for figures in (steps, coupled)]
    return [f"{coupled['step_ps'] / steps['step_ps'] - 1:+.3%}", ", ".join(exposed),
            f"{seconds[0]:.2f}", f"{seconds[1]:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="", help="regular expression of scenarios")
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds of a run")
    parser.add_argument("--binary", default=BINARY, help="default: that of build/release")
    options = parser.parse_args()
    print("| scenario | routes | step time | exposed time, by dimension | steps, s | coupled, s |\n|---|---|---|---|---|---|")
    for file in sorted(os.listdir(os.path.join(ROOT, "configs", "scenarios"))):
        scenario = file.removesuffix(".yaml")
        if not re.search(options.filter, scenario):
            continue
        for name, settings in ROUTES.items():
            pair = [run(scenario, [*settings, f"collectives.model={rung}"], options) for rung in ("steps", "coupled")]
            cells = error_cells(*pair) if all(pair) else ["not compared", "", "", ""]
            print(f"| {scenario} | {name} | " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
