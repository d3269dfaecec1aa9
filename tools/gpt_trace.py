#!/usr/bin/env python3
"""Writes Chakra traces of a GPT training step, one file per rank, with the other files that an ASTRA-sim job needs.

    tools/gpt_trace.py FOLDER                        TP 8 x PP 8 x DP 4, 32 layers, 16 microbatches
    tools/gpt_trace.py FOLDER --dp 16 --jitter 0.3   1,024 ranks, each computation 0 to 30 % longer

Ranks are in Megatron-Core's order, tensor parallelism first, then data, then pipeline parallelism, unless --order says
otherwise. The schedule is 1F1B.
Each layer and direction has two all-reduces of --message bytes over its tensor-parallel group, stages exchange as many,
and each rank ends with an all-reduce over its data-parallel group and an optimizer step. A run is

    ringwright astra --workload-configuration=FOLDER/gpt --comm-group-configuration=FOLDER/comm_group.json \\
        --system-configuration=FOLDER/system.json --network-configuration=FOLDER/Ring.yml --backend aware
"""

import argparse
import json
import os
import random

COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7  # NodeType
ALL_REDUCE = 0  # CollectiveCommType
FORWARD_US = 560  # half a layer
OPTIMIZER_US = 5000
GRADIENTS = 256 << 20


def varint(value):
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    kind = number(27, int(value)) if isinstance(value, bool) else number(9, value) if isinstance(value, int) else block(29, value.encode())
    return block(10, block(1, name.encode()) + kind)


class RankTrace:
    def __init__(self, jitter, seed):
        self.records = [block(1, b"0.0.4")]
        self.count = 0
        self.last = None  # the work that the next one follows
        self.jitter = jitter
        self.random = random.Random(seed)

    def add(self, name, kind, micros=0, after=(), **attributes):
        node = self.count
        self.count += 1
        parents = [parent for parent in (self.last, *after) if parent is not None]
        record = number(1, node) + block(2, name.encode()) + number(3, kind)
        if parents:
            record += block(5, b"".join(varint(parent) for parent in parents))
        if micros:
            record += number(6, 0) + number(7, micros)
        for key, value in attributes.items():
            record += attribute(key, value)
        self.records.append(record)
        return node

    def compute(self, name, micros, after=()):
        longer = 1 + self.jitter * self.random.random()
        self.last = self.add(name, COMPUTE, round(micros * longer), after, is_cpu_op=False, num_ops=1, tensor_size=1)

    def all_reduce(self, name, group, size):
        self.last = self.add(name, COLLECTIVE, 0, (), is_cpu_op=False, comm_type=ALL_REDUCE, comm_size=size, pg_name=str(group))

    def send(self, to, tag, size):
        self.add("send", SEND, 0, (), is_cpu_op=False, comm_dst=to, comm_tag=tag, comm_size=size)

    def receive(self, source, tag, size):
        return self.add("receive", RECEIVE, 0, (), is_cpu_op=False, comm_src=source, comm_tag=tag, comm_size=size)

    def write(self, path):
        with open(path, "wb") as file:
            for record in self.records:
                file.write(varint(len(record)) + record)


class Job:
    def __init__(self, options):
        self.options = options
        self.ranks = options.tp * options.dp * options.pp
        self.tensor_groups = {}  # by stage and replica
        self.data_groups = {}  # by stage and tensor rank
        groups = {}
        for stage in range(options.pp):
            for replica in range(options.dp):
                self.tensor_groups[stage, replica] = len(groups) + 1
                groups[str(len(groups) + 1)] = [self.rank(tensor, replica, stage) for tensor in range(options.tp)]
        for stage in range(options.pp if options.dp > 1 else 0):
            for tensor in range(options.tp):
                self.data_groups[stage, tensor] = len(groups) + 1
                groups[str(len(groups) + 1)] = [self.rank(tensor, replica, stage) for replica in range(options.dp)]
        self.groups = groups

    def rank(self, tensor, replica, stage):
        options = self.options
        after_tensor = replica + options.dp * stage if options.order == "tp-dp-pp" else stage + options.pp * replica
        return tensor + options.tp * after_tensor

    # 1F1B: warm up, alternate, drain.
    def passes(self, stage):
        microbatches = self.options.microbatches
        ahead = min(self.options.pp - stage - 1, microbatches)
        order = [(True, i) for i in range(ahead)]
        for i in range(microbatches - ahead):
            order += [(True, ahead + i), (False, i)]
        return order + [(False, i) for i in range(microbatches - ahead, microbatches)]

    def trace(self, tensor, replica, stage):
        options = self.options
        rank = self.rank(tensor, replica, stage)
        trace = RankTrace(options.jitter, options.seed * self.ranks + rank)
        for forward, microbatch in self.passes(stage):
            tag = microbatch * 2 + (not forward)
            source, to = (stage - 1, stage + 1) if forward else (stage + 1, stage - 1)
            received = []
            if 0 <= source < options.pp:
                received = [trace.receive(self.rank(tensor, replica, source), tag, options.message)]
            for half in range(2 * options.layers // options.pp):
                trace.compute("half a layer", FORWARD_US if forward else 2 * FORWARD_US, received)
                trace.all_reduce("tensor parallel", self.tensor_groups[stage, replica], options.message)
                received = []
            if 0 <= to < options.pp:
                trace.send(self.rank(tensor, replica, to), tag, options.message)
        if options.dp > 1:
            trace.all_reduce("gradients", self.data_groups[stage, tensor], GRADIENTS)
        trace.compute("optimizer", OPTIMIZER_US)
        return rank, trace


def write_configuration(job, folder):
    def write(name, text):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)

    for topology in ("Switch", "Ring", "FullyConnected"):
        write(f"{topology}.yml", f"topology: [ {topology} ]\nnpus_count: [ {job.ranks} ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n")
    algorithms = {f"{kind}-implementation": ["ring"] for kind in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")}
    system = {"scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 1, "preferred-dataset-splits": 4,
              "collective-optimization": "localBWAware", "local-mem-bw": 1600, **algorithms}
    write("system.json", json.dumps(system, indent=2) + "\n")
    write("remote_memory.json", json.dumps({"memory-type": "NO_MEMORY_EXPANSION"}) + "\n")
    write("comm_group.json", json.dumps(job.groups) + "\n")


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} must be at least 1")
    return value


def share(text):
    value = float(text)
    if not 0.0 <= value <= 10.0:
        raise argparse.ArgumentTypeError(f"{text} must be between 0 and 10: 0.3 is 30 %")
    return value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--tp", type=positive, default=8)
    parser.add_argument("--pp", type=positive, default=8)
    parser.add_argument("--dp", type=positive, default=4)
    parser.add_argument("--order", choices=("tp-dp-pp", "tp-pp-dp"), default="tp-dp-pp", help="of ranks")
    parser.add_argument("--layers", type=positive, default=32, help="a multiple of --pp")
    parser.add_argument("--microbatches", type=positive, default=16)
    parser.add_argument("--message", type=positive, default=32 << 20, help="bytes of activations, of one microbatch")
    parser.add_argument("--jitter", type=share, default=0.0, help="computations take up to so much longer, as a share")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.layers % options.pp != 0:
        parser.error(f"--layers is {options.layers} and must be a multiple of --pp, {options.pp}")
    os.makedirs(options.folder, exist_ok=True)
    job = Job(options)
    nodes = 0
    for stage in range(options.pp):
        for replica in range(options.dp):
            for tensor in range(options.tp):
                rank, trace = job.trace(tensor, replica, stage)
                trace.write(os.path.join(options.folder, f"gpt.{rank}.et"))
                nodes += trace.count
    write_configuration(job, options.folder)
    print(f"{job.ranks} ranks, {nodes} nodes, {len(job.groups)} groups")


if __name__ == "__main__":
    main()
