#!/usr/bin/env python3
"""Fused attention forward and backward through PyTorch (cuDNN's and FlashAttention's kernels), as a kernel table.

    attention.py --out tables [--quick] [--budget SECONDS] [--dry-run]
"""

import os

from torch_tables import Budget, Table, end_of, first_line, header, import_torch, is_device_lost, options_of, run, time_graph

KEYS = ['family', 'op', 'dtype', 'layout', 'm', 'n', 'k', 'batch', 'mask', 'flops', 'bytes', 'mode']
VALUES = ['time_us', 'ci_low_us', 'ci_high_us']


def shapes(quick):
    """(sequences, query heads, key-value heads, length, head size, causal)"""
    if quick:
        return [(1, 32, 8, 4096, 128, True)]
    result = []
    for length in (512, 1024, 2048, 4096, 8192, 16384, 32768):
        for size in (64, 128):
            for heads in (4, 8, 16, 32):
                if length * heads > 32768 * 8:
                    continue
                for causal in (True, False):
                    result.append((max(1, 4096 // length), heads, max(1, heads // 4), length, size, causal))
    result += [(1, 32, 32, 4096, 128, True), (4, 16, 16, 2048, 64, True), (8, 96, 96, 2048, 128, True)]
    return result


def row_of(backend, direction, shape):
    sequences, heads, kv_heads, length, size, causal = shape
    pairs = length * (length + 1) / 2 if causal else length * length
    flops = 4.0 * sequences * heads * pairs * size * (1.0 if direction == 'forward' else 2.5)
    query = 2.0 * sequences * heads * length * size
    key = 2.0 * sequences * kv_heads * length * size
    # Forward: query, key, value, result; backward also their gradients and the result's.
    moved = 2 * query + 2 * key if direction == 'forward' else 4 * query + 4 * key
    return {'family': f'attention {direction}', 'op': backend, 'dtype': 'bf16', 'm': length, 'n': length, 'k': size,
            'batch': sequences * heads, 'mask': 'causal' if causal else 'none', 'flops': f'{flops:.6g}',
            'bytes': f'{moved:.6g}', 'mode': 'graph'}


def backends(torch):
    """The kernels that this PyTorch can be set to use."""
    kinds = torch.nn.attention.SDPBackend
    names = (('cudnn', 'CUDNN_ATTENTION'), ('flash2', 'FLASH_ATTENTION'))
    return [(name, getattr(kinds, kind)) for name, kind in names if hasattr(kinds, kind)]


def measure(torch, table, backend, shape):
    """Both directions by one backend."""
    name, kind = backend
    sequences, heads, kv_heads, length, size, causal = shape
    rows = {direction: row_of(name, direction, shape) for direction in ('forward', 'backward')}
    if all(table.has(row) for row in rows.values()):
        return

    def tensor(count):
        return torch.randn(sequences, count, length, size, device='cuda', dtype=torch.bfloat16, requires_grad=True)

    query, key, value = tensor(heads), tensor(kv_heads), tensor(kv_heads)
    gradient = torch.randn_like(query)

    def forward():
        with torch.nn.attention.sdpa_kernel([kind]):
            return torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=causal,
                                                                    enable_gqa=heads != kv_heads)

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        result = forward()
    times = {'forward': time_graph(torch, lambda: forward().detach(), stream=stream),
             'backward': time_graph(torch, lambda: torch.autograd.grad(result, (query, key, value), gradient,
                                                                       retain_graph=True), stream=stream)}
    for direction, row in rows.items():
        if table.has(row):
            continue
        row['time_us'], row['ci_low_us'], row['ci_high_us'] = (f'{time:.6g}' for time in times[direction])
        table.add(row)
        print(f"{name} {direction} {shape}: {row['time_us']} us", flush=True)


def measure_all(torch, table, quick, budget):
    """False when time is up."""
    for shape in shapes(quick):
        for backend in backends(torch):
            if budget.is_up():
                return False
            try:
                measure(torch, table, backend, shape)
            except (RuntimeError, TypeError) as error:  # no such kernel for this shape, out of memory, no enable_gqa
                if is_device_lost(error):
                    raise
                print(f'skipped: {backend[0]} {shape}: {first_line(error)}', flush=True)
    return True


def main():
    options = options_of(__doc__)
    if options.dry_run:
        for shape in shapes(options.quick):
            print(row_of('any', 'forward', shape))
        return 0
    budget = Budget(options.budget)
    torch = import_torch()
    try:
        import torch.nn.attention
    except ImportError:
        raise SystemExit('error: this PyTorch cannot select an attention kernel (it has no torch.nn.attention)') from None
    os.makedirs(options.out, exist_ok=True)
    table = Table(os.path.join(options.out, 'attention.csv'), header(torch, 'attention.py'), KEYS, VALUES)
    return end_of(measure_all(torch, table, options.quick, budget))


if __name__ == '__main__':
    run(main)
