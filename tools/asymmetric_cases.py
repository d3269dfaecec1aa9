#!/usr/bin/env python3
"""Runs training steps in which little is symmetric, each in a process of its own, and prints one table.

    tools/asymmetric_cases.py                          all cases, with the default rung of collectives
    tools/asymmetric_cases.py --filter ecmp            some of them (regular expression)
    tools/asymmetric_cases.py --set collectives.model=coupled   the same on another rung
    tools/asymmetric_cases.py --json now.json          store the figures
    tools/asymmetric_cases.py --against before.json    with the ratio of CPU seconds to stored figures

Times are CPU seconds of the process, all threads together. A case that takes longer than --limit is stopped.
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
ECMP = "cluster.fabric.routing.policy=ecmp"
DMODK = "cluster.fabric.routing.policy=d_mod_k"


def llama_405b(gpus, *more):
    # The layout of the shipped scenario, one pipeline of 128 GPUs for each 16 sequences of the batch.
    return ["llama3-405b-16k-h100", f"cluster.nodes={gpus // 8}", f"training.global_batch={gpus // 8}", *more]


def llama_70b_fsdp(gpus, *more):
    return ["llama3-70b-hsdp-64-h100", f"parallel.fsdp.shard_degree={gpus}", "parallel.fsdp.replicate_degree=1", f"cluster.nodes={gpus // 8}",
            f"training.global_batch={gpus}", *more]


def llama_70b_512(*more):
    # All-reduces of tensor parallelism by NVLS, 16 replicas of four pipeline stages.
    return ["llama3-70b-search-64-h100", "parallel.sequence_parallel=false", "cluster.nodes=64", "training.global_batch=1024", *more]


def deepseek(*more):
    # 1F1B with exposed exchanges and roofline kernels, as the scenario was when the first of these tables was measured.
    return ["deepseek-v3-2048-h800", "parallel.schedule=1f1b", "parallel.overlap_moe_expert_parallel_comm=false",
            "parallel.moe_shared_expert_overlap=true", "compute.model=roofline", "memory.fragmentation=5%",
            "training.recompute_modules=[layernorm, mla_up_proj, moe_act]", "training.activation_func_fp8_input_store=false",
            "training.fp8_param_gather=false", "training.exp_avg_dtype=fp32", "training.exp_avg_sq_dtype=fp32", *more]


# Name, and what runs: a scenario and its changed keys.
CASES = (
    [(f"405b/static/{n}", llama_405b(n)) for n in (4096, 8192, 16384, 32768, 65536)]
    + [(f"405b/dmodk/{n}", llama_405b(n, DMODK)) for n in (2048, 4096, 8192)]
    + [(f"405b/ecmp/{n}", llama_405b(n, ECMP)) for n in (256, 512, 1024, 2048, 4096)]
    + [("405b/static/131072", ["llama3-405b-128k-h100"]), ("405b/static/24576", llama_405b(24576)),
       ("405b/spray/16384", llama_405b(16384, "cluster.fabric.routing.policy=spray")),
       ("405b/background/16384", llama_405b(16384, "background=[{from: [0], to: [16000], size: 10GB, at: 1s}]"))]
    + [("gpt3-1024/ecmp", ["gpt3-175b-1024-a100", ECMP]),
       ("70b-fsdp/1024", llama_70b_fsdp(1024)), ("70b-fsdp/4096", llama_70b_fsdp(4096)),
       ("70b-fsdp/1024/ecmp", llama_70b_fsdp(1024, ECMP)),
       ("deepseek-2048/ecmp", deepseek(ECMP)),
       ("deepseek-2048/slow-host", deepseek("faults=[{node: 7, compute_scale: 0.9}]")),
       ("deepseek-2048/dualpipe/ecmp", ["deepseek-v3-2048-h800", ECMP]),
       ("70b-512/dead-nic", llama_70b_512("faults=[{nic: host0/nic0}]")),
       ("70b-512/slow-nic", llama_70b_512("faults=[{nic: host0/nic0, state: degraded, factor: 0.5}]")),
       ("70b-512/slow-uplink", llama_70b_512("faults=[{link: leaf0.0->spine0, state: degraded, factor: 0.5}]")),
       ("gpt3-1024/chunks", ["gpt3-175b-1024-a100", "collectives.model=chunks"])])


def run_case(arguments, options):
    command = [options.binary, "run", arguments[0], "--json"]
    for setting in [*arguments[1:], "simulate.allow_slow=true", *options.set]:
        command += ["--set", setting]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=NO_CACHE,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (options.limit, options.limit)))
    except subprocess.SubprocessError as error:
        return {"error": str(error)}
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode < 0:
        return {"error": f"> {options.limit}"}
    if not done.stdout.startswith("{"):
        return {"error": (done.stderr.strip().splitlines() or ["failed"])[0]}
    return {"cpu_s": cpu} | figures_of(json.loads(done.stdout))  # also of a job that needs too much memory


def figures_of(report):
    engine = report["engine"]
    return {"classes": engine["classes"], "events": engine["events"],
            "peak_MiB": engine["peak_rss_bytes"] / 2**20, "step_s": report["step_ps"] / 1e12}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="", help="regular expression of names")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE for every case")
    parser.add_argument("--binary", default=BINARY, help="default: that of build/release")
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds of a case")
    parser.add_argument("--json", help="store the figures in this file")
    parser.add_argument("--against", help="stored figures to compare with")
    options = parser.parse_args()
    stored = {}
    if options.against:
        with open(options.against, encoding="utf-8") as file:
            stored = json.load(file)
    print("| case | CPU s | classes | events | peak MiB | step s |" + (" before, CPU s | step time |" if stored else ""))
    print("|---|---|---|---|---|---|" + ("---|---|" if stored else ""))
    figures = {}
    for name, arguments in CASES:
        if not re.search(options.filter, name):
            continue
        figures[name] = figure = run_case(arguments, options)
        print(row(name, figure, stored), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)
    return 0


def row(name, figure, stored):
    if "error" in figure:
        cells = [figure["error"], "", "", "", ""]
    else:
        cells = [f"{figure['cpu_s']:.2f}", f"{figure['classes']:,}", f"{figure['events']:,}",
                 f"{figure['peak_MiB']:.0f}", f"{figure['step_s']:.9g}"]
    if stored:
        before = stored.get(name, {"error": ""})
        cells.append(before["error"] if "error" in before else f"{before['cpu_s']:.2f}")
        both = "error" not in before and "error" not in figure
        cells.append(f"{figure['step_s'] / before['step_s'] - 1:+.3%}" if both else "")
    return f"| {name} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.exit(main())
