#!/usr/bin/env python3
"""GEMMs of experts as training frameworks run them: one cuBLAS GEMM for each expert on four streams (Transformer Engine's
GroupedLinear), and one CUTLASS kernel for all (PyTorch's grouped_mm), as a kernel table.

    grouped_gemm.py --out tables [--quick] [--budget SECONDS] [--dry-run]
"""

import os

from torch_tables import (Budget, Table, end_of, first_line, header, import_torch, is_device_lost, options_of, run,
                          time_graph)

KEYS = ['family', 'op', 'dtype', 'layout', 'm', 'n', 'k', 'batch', 'flops', 'bytes', 'mode', 'cache']
VALUES = ['time_us', 'ci_low_us', 'ci_high_us']
STREAMS = 4


def shapes(quick):
    """(experts, tokens of each, outputs, inputs): both GEMMs of the experts of Mixtral 8x7B, Qwen3-30B-A3B, DeepSeek-V3."""
    result = []
    for hidden, ffn in ((4096, 14336), (2048, 768), (7168, 2048)):
        for experts in (8,) if quick else (2, 4, 8, 16, 32):
            for tokens in (1024,) if quick else (64, 256, 512, 1024, 2048, 4096):
                if experts * tokens <= 32768:
                    result += [(experts, tokens, 2 * ffn, hidden), (experts, tokens, hidden, ffn)]
    return result


def row_of(op, shape):
    experts, tokens, outputs, inputs = shape
    return {'family': 'grouped gemm', 'op': op, 'dtype': 'bf16', 'layout': 'TN', 'm': tokens, 'n': outputs, 'k': inputs,
            'batch': experts, 'flops': f'{2.0 * experts * tokens * outputs * inputs:.6g}',
            'bytes': f'{2.0 * experts * (tokens * inputs + outputs * inputs + tokens * outputs):.6g}', 'mode': 'graph',
            'cache': 'cold'}


class Experts:
    """Operands of all experts, in as many copies as exceed twice the cache."""

    def __init__(self, torch, shape):
        experts, tokens, outputs, inputs = shape
        size = 2.0 * experts * (outputs * inputs + tokens * inputs)
        self.torch, self.experts, self.turn = torch, experts, 0
        self.copies = max(2, int(120e6 / size) + 1)
        make = lambda *sizes: [torch.randn(*sizes, device='cuda', dtype=torch.bfloat16) for _ in range(self.copies)]
        self.weights, self.inputs = make(experts, outputs, inputs), make(experts * tokens, inputs)
        self.result = torch.empty(experts * tokens, outputs, device='cuda', dtype=torch.bfloat16)
        self.ends = torch.arange(1, experts + 1, device='cuda', dtype=torch.int32) * tokens
        self.tokens = tokens
        self.streams = [torch.cuda.Stream() for _ in range(STREAMS)]

    def next(self):
        self.turn = (self.turn + 1) % self.copies
        return self.inputs[self.turn], self.weights[self.turn]

    def in_one(self):
        inputs, weights = self.next()
        self.torch._grouped_mm(inputs, weights.transpose(1, 2), offs=self.ends)

    def on_streams(self):
        inputs, weights = self.next()
        main = self.torch.cuda.current_stream()
        for stream in self.streams:
            stream.wait_stream(main)
        for expert in range(self.experts):
            rows = slice(expert * self.tokens, (expert + 1) * self.tokens)
            with self.torch.cuda.stream(self.streams[expert % STREAMS]):
                self.torch.mm(inputs[rows], weights[expert].t(), out=self.result[rows])
        for stream in self.streams:
            main.wait_stream(stream)


OPS = (('cuBLAS on 4 streams', Experts.on_streams), ('torch grouped_mm', Experts.in_one))


def measure_all(torch, table, quick, budget):
    """False when time is up."""
    for shape in shapes(quick):
        if all(table.has(row_of(op, shape)) for op, _ in OPS):
            continue
        if budget.is_up():
            return False
        torch.cuda.empty_cache()
        for op, call in OPS:
            row = row_of(op, shape)
            if table.has(row):
                continue
            try:
                experts = Experts(torch, shape)
                times = time_graph(torch, lambda: call(experts), seconds=0.15)
            except (RuntimeError, AttributeError) as error:  # no such kernel in this PyTorch, out of memory
                if is_device_lost(error):
                    raise
                print(f'skipped: {op} {shape}: {first_line(error)}', flush=True)
                continue
            row['time_us'], row['ci_low_us'], row['ci_high_us'] = (f'{time:.6g}' for time in times)
            table.add(row)
            print(f"{op} {shape}: {row['time_us']} us", flush=True)
    return True


def main():
    options = options_of(__doc__)
    if options.dry_run:
        for shape in shapes(options.quick):
            print(row_of('any', shape))
        return 0
    budget = Budget(options.budget)
    torch = import_torch()
    os.makedirs(options.out, exist_ok=True)
    table = Table(os.path.join(options.out, 'grouped_gemm_torch.csv'), header(torch, 'grouped_gemm.py'), KEYS, VALUES)
    return end_of(measure_all(torch, table, options.quick, budget))


if __name__ == '__main__':
    run(main)
