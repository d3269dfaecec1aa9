#!/usr/bin/env python3
"""Fused attention forward and backward through PyTorch (cuDNN's and FlashAttention's kernels), as a kernel table.

    attention.py --out tables [--quick] [--dry-run]
"""

import argparse
import os

from torch_tables import Table, header, time_calls

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
            'bytes': f'{moved:.6g}', 'mode': 'eager'}


def measure(torch, table, shape):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    sequences, heads, kv_heads, length, size, causal = shape

    def tensor(count):
        return torch.randn(sequences, count, length, size, device='cuda', dtype=torch.bfloat16, requires_grad=True)

    query, key, value = tensor(heads), tensor(kv_heads), tensor(kv_heads)
    gradient = torch.randn_like(query)
    for name, backend in (('cudnn', SDPBackend.CUDNN_ATTENTION), ('flash2', SDPBackend.FLASH_ATTENTION)):
        rows = {direction: row_of(name, direction, shape) for direction in ('forward', 'backward')}
        if all(table.has(row) for row in rows.values()):
            continue

        def forward():
            with sdpa_kernel([backend]):
                return torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=causal,
                                                                        enable_gqa=heads != kv_heads)

        try:
            result = forward()
            times = {'forward': time_calls(torch, lambda: forward().detach()),
                     'backward': time_calls(torch, lambda: torch.autograd.grad(result, (query, key, value), gradient,
                                                                               retain_graph=True))}
        except RuntimeError as error:
            print(f'skipped: {name} {shape}: {str(error).splitlines()[0]}', flush=True)
            continue
        for direction, row in rows.items():
            row['time_us'], row['ci_low_us'], row['ci_high_us'] = (f'{time:.6g}' for time in times[direction])
            table.add(row)
            print(f"{name} {direction} {shape}: {row['time_us']} us", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--out', default='tables')
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--dry-run', action='store_true', help='say what would be measured; needs no GPU')
    options = parser.parse_args()
    if options.dry_run:
        for shape in shapes(options.quick):
            print(row_of('any', 'forward', shape))
        return
    import torch
    os.makedirs(options.out, exist_ok=True)
    table = Table(os.path.join(options.out, 'attention.csv'), header(torch, 'attention.py'), KEYS, VALUES)
    for shape in shapes(options.quick):
        measure(torch, table, shape)


if __name__ == '__main__':
    main()
