#!/usr/bin/env python3
"""Host time of PyTorch's eager operators: how fast one thread issues them when the device never makes it wait.

    host_ops.py --out tables [--quick] [--budget SECONDS] [--dry-run]

Tensors are small, so that every kernel takes less than its issue. host_ops.csv has the time of one call on the host.
"""

import os
import platform
import time

from torch_tables import Budget, Table, end_of, first_line, header, import_torch, interval, is_device_lost, options_of, run

KEYS = ['call', 'kernels']
VALUES = ['time_us', 'low_us', 'high_us']


def processor():
    try:
        with open('/proc/cpuinfo', encoding='utf-8') as file:
            names = [line.split(':', 1)[1].strip() for line in file if line.startswith('model name')]
        return f'{names[0]}; {len(names)} cores' if names else platform.machine()
    except OSError:
        return platform.machine()


def calls(torch):
    """Name, number of kernels, and a function."""
    nn, functional = torch.nn, torch.nn.functional
    half = dict(device='cuda', dtype=torch.bfloat16)
    x, y = torch.randn(16, 256, **half), torch.randn(16, 256, **half)
    weight = torch.randn(256, 256, **half)
    grad_x = torch.randn(16, 256, **half, requires_grad=True)
    linear = nn.Linear(256, 256, **half)
    norm = nn.LayerNorm(256, **half)
    heads = [torch.randn(1, 4, 64, 64, **half, requires_grad=True) for _ in range(3)]
    bag = nn.EmbeddingBag(1000, 64, mode='sum', device='cuda')
    rows, offsets = torch.randint(1000, (256,), device='cuda'), torch.arange(0, 256, 4, device='cuda')
    pieces = [torch.randn(16, 32, **half) for _ in range(8)]
    outputs = {'linear': linear(grad_x), 'norm': norm(grad_x), 'gelu': functional.gelu(grad_x), 'add': grad_x + y}
    attention = functional.scaled_dot_product_attention(*heads, is_causal=True)
    tensors = [torch.randn(256, device='cuda', requires_grad=True) for _ in range(100)]
    for tensor in tensors:
        tensor.grad = torch.zeros_like(tensor)
    adam = torch.optim.AdamW(tensors, fused=True)

    def backward(result, inputs):
        gradient = torch.ones_like(result)
        return lambda: torch.autograd.grad(result, inputs, gradient, retain_graph=True)

    yield 'add in place', 1, lambda: x.add_(0.0)
    yield 'add', 1, lambda: x + y
    yield 'view and transpose', 0, lambda: x.view(4, 4, 256).transpose(0, 1)
    yield 'mm', 1, lambda: torch.mm(x, weight)
    yield 'linear without gradients', 1, lambda: functional.linear(x, weight)
    yield 'linear module', 1, lambda: linear(grad_x)
    yield 'layer norm module', 1, lambda: norm(grad_x)
    yield 'gelu', 1, lambda: functional.gelu(grad_x)
    yield 'cat of 8', 1, lambda: torch.cat(pieces, dim=1)
    yield 'attention', 1, lambda: functional.scaled_dot_product_attention(*heads, is_causal=True)
    yield 'embedding bag', 1, lambda: bag(rows, offsets)
    yield 'add backward', 0, backward(outputs['add'], [grad_x])
    yield 'linear backward', 3, backward(outputs['linear'], [grad_x, linear.weight, linear.bias])
    yield 'layer norm backward', 2, backward(outputs['norm'], [grad_x, norm.weight, norm.bias])
    yield 'gelu backward', 1, backward(outputs['gelu'], [grad_x])
    yield 'attention backward', 3, backward(attention, heads)
    yield 'fused adam of 100 tensors', 2, adam.step
    yield 'foreach zero of 100 tensors', 1, lambda: torch._foreach_zero_([tensor.grad for tensor in tensors])
    yield 'event record', 0, torch.cuda.Event().record
    yield 'item', 1, lambda: x[0, 0].item()
    if torch.distributed.is_available():
        os.environ.setdefault('MASTER_ADDR', '127.0.0.1')
        os.environ.setdefault('MASTER_PORT', '29511')
        torch.distributed.init_process_group('nccl', rank=0, world_size=1)
        yield 'all_reduce, one rank', 1, lambda: torch.distributed.all_reduce(x, async_op=True)
        yield 'all_to_all_single, one rank', 1, lambda: torch.distributed.all_to_all_single(y, x, async_op=True)
        yield 'all_gather_into_tensor, one rank', 1, lambda: torch.distributed.all_gather_into_tensor(y, x, async_op=True)


def host_time(torch, call):
    """Microseconds of one call on the host, as (median, low, high) of 21 samples of 100 calls."""
    for _ in range(50):
        call()
    samples = []
    for _ in range(21):
        torch.cuda.synchronize()
        begin = time.perf_counter_ns()
        for _ in range(100):
            call()
        samples.append((time.perf_counter_ns() - begin) * 1e-5)
    torch.cuda.synchronize()
    return interval(samples)


def main():
    options = options_of(__doc__)
    if options.dry_run:
        print('the host time of operators, of their gradients, and of collectives of one rank')
        return 0
    budget = Budget(options.budget)
    torch = import_torch()
    os.makedirs(options.out, exist_ok=True)
    table = Table(os.path.join(options.out, 'host_ops.csv'), header(torch, 'host_ops.py') + [f'host: {processor()}'], KEYS, VALUES)
    try:
        for name, kernels, call in calls(torch):
            row = {'call': name, 'kernels': kernels}
            if table.has(row):
                continue
            if budget.is_up():
                return end_of(False)
            row['time_us'], row['low_us'], row['high_us'] = (f'{value:.6g}' for value in host_time(torch, call))
            table.add(row)
            print(f"{name}: {row['time_us']} us", flush=True)
    except RuntimeError as error:
        if is_device_lost(error):
            raise
        print(f'skipped: {first_line(error)}', flush=True)
    return 0


if __name__ == '__main__':
    run(main)
