#!/usr/bin/env python3
"""Compares `search --json` of two programs byte by byte, with all layouts predicted and with slower ones skipped.

    tools/compare_searches.py build/before/ringwright build/release/ringwright

Searches are those of SEARCHES, or lines of a file given with --searches. Both programs need their shipped scenarios next
to them. Prints a line for each search, with the CPU seconds of both; exit status 1 if any differs."""

import argparse
import os
import pathlib
import re
import subprocess
import sys

NO_CACHE = os.environ | {"RINGWRIGHT_CACHE": "off"}  # each run finds the overheads of its calls itself

SEARCHES = """\
llama3-70b-search-64-h100 --replay 3
llama3-8b-fsdp-8-h100 --replay 2
mixtral-8x7b-64-h100 --vary tp=1,2,4 --vary pp=1,2 --vary ep=1,2,8 --fix micro_batch=1 --replay 2
gpt3-175b-1024-a100 --vary pp=32,64 --fix tp=8 --vary virtual_stages=4,8 --vary parallel.overlap_p2p_comm=true,false --replay 2
gpt3-175b-1024-a100 --vary schedule=1f1b,zb-h1,zb-v,dualpipev --fix tp=8 --fix recompute=selective --fix sharding=zero-1 --replay 0
deepseek-v3-2048-h800 --vary tp=1 --vary pp=8,16 --vary ep=32,64 --fix schedule=1f1b --fix parallel.overlap_moe_expert_parallel_comm=false --fix virtual_stages=1 --replay 0
gpt3-175b-1024-a100 --fix cluster.nodes=512 --fix training.global_batch=1536 --replay 0
"""


PROGRESS = re.compile(rb"\s*\d+ %  ")  # of searches that take long


def run(program: str, arguments: list[str]) -> tuple[tuple[int, bytes, list[bytes]], float]:
    before = os.times()
    done = subprocess.run([program, "search", *arguments, "-j", "1", "--json"], capture_output=True, check=False, env=NO_CACHE)
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    said = [line for line in done.stderr.splitlines() if not PROGRESS.match(line)]
    return (done.returncode, done.stdout, said), seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("now")
    parser.add_argument("--searches", type=pathlib.Path, help="a file with the arguments of a search in each line")
    asked = parser.parse_args()
    text = asked.searches.read_text(encoding="utf-8") if asked.searches else SEARCHES
    differing = 0
    for line in filter(str.strip, text.splitlines()):
        for mode in ("--predict-all", "--skip-slower"):
            arguments = [*line.split(), mode]
            (old, old_seconds), (new, new_seconds) = run(asked.before, arguments), run(asked.now, arguments)
            differing += old != new
            verdict = "equal  " if old == new else "DIFFERS"
            print(f"{verdict} {old_seconds:7.2f} s {new_seconds:7.2f} s  {' '.join(arguments)}", flush=True)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
