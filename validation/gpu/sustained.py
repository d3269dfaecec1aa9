#!/usr/bin/env python3
"""The speed of kernels under sustained load: the same kernel replayed for seconds, with clock, power and temperature.

    sustained.py --out tables [--quick] [--budget SECONDS] [--dry-run]

A kernel alone is measured in milliseconds, before the power limit acts. In a training step the GPU is busy all the time.
Each row of sustained.csv is a window of seconds since the load began, after one second of idleness.
"""

import os
import time

from torch_tables import Budget, Table, end_of, first_line, header, import_torch, is_device_lost, options_of, run

KEYS = ['kernel', 'dtype', 'm', 'n', 'k', 'flops', 'bytes', 'from_s', 'to_s']
VALUES = ['time_us', 'launches', 'sm_mhz', 'power_w', 'temperature_c']
WINDOWS = ((0.0, 0.01), (0.01, 0.03), (0.03, 0.1), (0.1, 0.3), (0.3, 1.0), (1.0, 2.0), (2.0, 3.0))


def cases(quick):
    """(kernel, dtype, m, n, k)"""
    result = [('gemm', 'bf16', 8192, 8192, 8192), ('gemm', 'bf16', 4096, 4096, 4096), ('gemm', 'fp8', 8192, 8192, 8192),
              ('attention forward', 'bf16', 8192, 8192, 128), ('copy', 'bf16', 0, 0, 0)]
    if not quick:
        result += [('gemm', 'bf16', 2048, 2048, 2048), ('gemm', 'bf16', 1024, 1024, 1024), ('gemm', 'bf16', 4096, 28672, 4096),
                   ('gemm', 'bf16', 16384, 16384, 16384), ('gemm', 'fp8', 4096, 4096, 4096), ('gemm', 'fp8', 2048, 2048, 2048),
                   ('gemm', 'fp8', 4096, 28672, 4096), ('gemm', 'fp8', 16384, 16384, 16384),
                   ('attention backward', 'bf16', 8192, 8192, 128), ('attention forward', 'bf16', 8192, 8192, 64),
                   ('elementwise', 'bf16', 0, 0, 0)]
    return result


def make_call(torch, case):
    """A function that launches the kernel, its FLOPs and its bytes."""
    kernel, dtype, m, n, k = case
    if kernel == 'gemm':
        copies = max(2, int(120e6 / (2.0 * (m * k + n * k))) + 1)
        turn = [0]
        if dtype == 'fp8':
            a = [torch.randn(m, k, device='cuda').to(torch.float8_e4m3fn) for _ in range(copies)]
            b = [torch.randn(n, k, device='cuda').to(torch.float8_e4m3fn) for _ in range(copies)]
            one = torch.ones((), device='cuda')

            def call():
                turn[0] = (turn[0] + 1) % copies
                return torch._scaled_mm(a[turn[0]], b[turn[0]].t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16,
                                        use_fast_accum=True)
        else:
            a = [torch.randn(m, k, device='cuda', dtype=torch.bfloat16) for _ in range(copies)]
            b = [torch.randn(n, k, device='cuda', dtype=torch.bfloat16) for _ in range(copies)]

            def call():
                turn[0] = (turn[0] + 1) % copies
                return a[turn[0]] @ b[turn[0]].t()
        size = 1 if dtype == 'fp8' else 2
        return call, 2.0 * m * n * k, size * (m * k + n * k) + 2.0 * m * n
    if kernel.startswith('attention'):
        heads = 16
        tensors = [torch.randn(1, heads, m, k, device='cuda', dtype=torch.bfloat16, requires_grad=True) for _ in range(3)]
        kind = torch.nn.attention.SDPBackend.CUDNN_ATTENTION

        def forward():
            with torch.nn.attention.sdpa_kernel([kind]):
                return torch.nn.functional.scaled_dot_product_attention(*tensors, is_causal=True)
        flops = 4.0 * heads * m * (m + 1) / 2 * k
        moved = 2.0 * 4 * heads * m * k
        if kernel.endswith('forward'):
            return lambda: forward().detach(), flops, moved
        result = forward()
        gradient = torch.randn_like(result)
        return lambda: torch.autograd.grad(result, tensors, gradient, retain_graph=True), 2.5 * flops, 2.0 * moved
    count = 256 << 20
    x, y = (torch.randn(count // 2, device='cuda', dtype=torch.bfloat16) for _ in range(2))
    if kernel == 'copy':
        return lambda: y.copy_(x), 0.0, 2.0 * count
    return lambda: torch.mul(x, 0.5, out=y), 0.0, 2.0 * count


def sensors():
    """Reads SM clock, power and temperature; nothing where NVML's Python module is missing."""
    try:
        import pynvml
        pynvml.nvmlInit()
        device = pynvml.nvmlDeviceGetHandleByIndex(0)
        return lambda: (pynvml.nvmlDeviceGetClockInfo(device, pynvml.NVML_CLOCK_SM), pynvml.nvmlDeviceGetPowerUsage(device) / 1e3,
                        pynvml.nvmlDeviceGetTemperature(device, pynvml.NVML_TEMPERATURE_GPU))
    except Exception as error:  # whatever the module raises, the times remain
        print(f'no clocks and no power: {first_line(error)}', flush=True)
        return lambda: ('', '', '')


def measure(torch, table, case, read_sensors):
    kernel, dtype, m, n, k = case
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):  # a backward pass runs on the stream of its forward pass
        call, flops, moved = make_call(torch, case)
    key = {'kernel': kernel, 'dtype': dtype, 'm': m, 'n': n, 'k': k, 'flops': f'{flops:.6g}', 'bytes': f'{moved:.6g}'}
    if table.has({**key, 'from_s': WINDOWS[-1][0], 'to_s': WINDOWS[-1][1]}):
        return
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
        torch.cuda.synchronize()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(5):
            call()
        end.record()
        end.synchronize()
        once = begin.elapsed_time(end) / 5
    launches = max(1, int(2.0 / max(once, 1e-3)))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(launches):
            call()
    torch.cuda.synchronize()
    time.sleep(1.0)
    marks, readings = [torch.cuda.Event(enable_timing=True)], []
    started = time.monotonic()
    with torch.cuda.stream(stream):
        marks[0].record()
        while time.monotonic() - started < WINDOWS[-1][1] + 0.05:
            graph.replay()
            marks.append(torch.cuda.Event(enable_timing=True))
            marks[-1].record()
            if len(marks) > 4:
                marks[-4].synchronize()
            if not readings or time.monotonic() - readings[-1][0] > 0.1:
                readings.append((time.monotonic(), read_sensors()))
    torch.cuda.synchronize()
    ends = [marks[0].elapsed_time(mark) * 1e-3 for mark in marks]
    for low, high in WINDOWS:
        spans = [after - before for before, after in zip(ends, ends[1:]) if low <= before and after <= high]
        if not spans:
            continue
        seen = [values for at, values in readings if low <= at - started <= high] or [('', '', '')]
        row = dict(key, from_s=low, to_s=high, time_us=f'{1e6 * sum(spans) / len(spans) / launches:.6g}',
                   launches=len(spans) * launches, sm_mhz=seen[-1][0], power_w=seen[-1][1], temperature_c=seen[-1][2])
        table.add(row)
    print(f"{kernel} {dtype} {m}x{n}x{k}: {row['time_us']} us, {row['sm_mhz']} MHz, {row['power_w']} W", flush=True)


def main():
    options = options_of(__doc__)
    if options.dry_run:
        for case in cases(options.quick):
            print(*case)
        return 0
    budget = Budget(options.budget)
    torch = import_torch()
    os.makedirs(options.out, exist_ok=True)
    table = Table(os.path.join(options.out, 'sustained.csv'), header(torch, 'sustained.py'), KEYS, VALUES)
    read_sensors = sensors()
    for case in cases(options.quick):
        if budget.is_up():
            return end_of(False)
        try:
            measure(torch, table, case, read_sensors)
        except (RuntimeError, AttributeError) as error:  # no such kernel in this PyTorch, out of memory
            if is_device_lost(error):
                raise
            print(f'skipped: {case}: {first_line(error)}', flush=True)
    return 0


if __name__ == '__main__':
    run(main)
