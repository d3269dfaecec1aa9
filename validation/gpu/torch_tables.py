"""Shared by the PyTorch measurements: timing by events, the head of a table, rows that are not measured twice."""

import argparse
import csv
import datetime
import math
import os
import statistics
import sys
import time

# The first that fits is taken: longer names before those that they contain, as in device.cu.
KNOWN_GPUS = (('GH200', 'gh200-96gb'), ('H200 NVL', 'h200-nvl-141gb'), ('H200', 'h200-sxm-141gb'), ('H800', 'h800-sxm-80gb'),
              ('H100 PCIe', 'h100-pcie-80gb'), ('GB300', 'gb300'), ('B300', 'b300-sxm-288gb'),
              ('H100 80GB HBM3', 'h100-sxm5-80gb'), ('A100-SXM4-80GB', 'a100-sxm4-80gb'), ('A100-SXM4-40GB', 'a100-sxm4-40gb'),
              ('A100 80GB PCIe', 'a100-pcie-80gb'), ('GB200', 'gb200'), ('B200', 'b200-sxm-192gb'),
              ('V100-SXM2-32GB', 'v100-sxm2-32gb'), ('V100-SXM2-16GB', 'v100-sxm2-16gb'),
              ('V100-SXM3-32GB', 'v100-sxm3-32gb'), ('L40S', 'l40s'))
TIME_IS_UP = 4  # the exit code of a run that has more to measure


def gpu_key(torch):
    name = torch.cuda.get_device_name(0)
    if ' MIG ' in name:
        raise SystemExit(f"error: '{name}' is a slice of a GPU; a profile is of a whole one")
    for part, key in KNOWN_GPUS:
        if part in name:
            return key
    raise SystemExit(f"error: no shipped GPU is known for '{name}'")


def import_torch():
    """PyTorch with a GPU, or the end of the run with a line that names what is missing."""
    try:
        import torch
    except ImportError as error:
        raise SystemExit(f'error: there is no PyTorch here: {error}') from None
    if not torch.cuda.is_available():
        raise SystemExit('error: PyTorch finds no GPU here')
    return torch


def run(main):
    """A script's end: what it returns, or one line about the device's."""
    try:
        sys.exit(main())
    except RuntimeError as error:
        sys.exit(f'error: the device has failed: {first_line(error)}')


def is_device_lost(error):
    """Whether nothing more can be measured after it: not so when only memory was short or a kernel missing."""
    return 'CUDA error' in str(error) and 'out of memory' not in str(error)


def first_line(error):
    return (str(error).splitlines() or [''])[0]


class Budget:
    """Seconds that a run may take; none: as many as it needs."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds if seconds else math.inf

    def is_up(self):
        return time.monotonic() > self.end


def end_of(done):
    """The exit code of a script that has measured all, or whose time is up."""
    if done:
        return 0
    print('the time is up, run again to continue', flush=True)
    return TIME_IS_UP


def seconds_of(word):
    value = float(word)
    if not value > 0:
        raise ValueError(word)
    return value


def options_of(doc, arguments=None):
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument('--out', default='tables')
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--budget', type=seconds_of, help='seconds that it may take; it then ends with exit code 4')
    parser.add_argument('--dry-run', action='store_true', help='list the measurements; needs no GPU and no PyTorch')
    return parser.parse_args(arguments)


def header(torch, what):
    properties = torch.cuda.get_device_properties(0)
    return [f'gpu: {gpu_key(torch)}', f'source: measured by validation/gpu/{what}', 'evidence: measured',
            f'device: {properties.name}; {properties.multi_processor_count} SMs; {properties.total_memory >> 20} MiB',
            f'libraries: torch {torch.__version__}; CUDA {torch.version.cuda}; cuDNN {torch.backends.cudnn.version()}',
            f'date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}',
            'method: CUDA events; medians and 95 % confidence intervals from order statistics; random operands']


def interval(samples):
    """Median and the ranks of its 95 % interval (Hoefler and Belli, SC 2015)."""
    ordered = sorted(samples)
    half = 0.98 * math.sqrt(len(ordered))
    low = max(math.floor(len(ordered) / 2 - half), 0)
    high = min(math.ceil(len(ordered) / 2 + half), len(ordered) - 1)
    return statistics.median(ordered), ordered[low], ordered[high]


def time_calls(torch, call, seconds=0.4, warmups=3, sample_us=2000.0):
    """Microseconds of one call, as (median, low, high).

    A sample has as many calls as fill about 2 ms, issued one after another as in a training step: the host's time
    before a call's first kernel shows only where the device waits for it.
    """
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def sample(calls):
        begin.record()
        for _ in range(calls):
            call()
        end.record()
        end.synchronize()
        return 1e3 * begin.elapsed_time(end)

    for _ in range(warmups):
        call()
    torch.cuda.synchronize()
    calls = min(max(int(sample_us / max(sample(1), 1.0)), 1), 64)
    samples = []
    spent = 0.0
    # Eleven at least, but five of long ones.
    while (len(samples) < 11 and (spent < 2 * seconds or len(samples) < 5)) or (spent < seconds and len(samples) < 101):
        taken = sample(calls)
        samples.append(taken / calls)
        spent += taken * 1e-6
    return interval(samples)


def time_graph(torch, call, seconds=0.4, sample_us=2000.0, stream=None):
    """Microseconds of one call replayed from a CUDA graph, as (median, low, high): the host's time does not show.

    A backward pass runs on the stream of its forward pass, and is captured only there: `stream`.
    """
    stream = stream or torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        once = 1e3 * begin.elapsed_time(end)
    torch.cuda.current_stream().wait_stream(stream)
    calls = min(max(int(sample_us / max(once, 1.0)), 1), 64)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(calls):
            call()
    median, low, high = time_calls(torch, graph.replay, seconds, sample_us=0.0)
    return median / calls, low / calls, high / calls


def whole_lines(path):
    """The complete lines of a file; an incomplete last line of a killed run is cut off."""
    with open(path, 'r+b') as file:
        text = file.read()
        end = text.rfind(b'\n') + 1
        if end < len(text):
            file.truncate(end)
    return text[:end].decode('utf-8').splitlines()


class Table:
    """A CSV file that grows row by row; existing rows are identified by their key columns."""

    def __init__(self, path, lines, keys, values):
        self.keys, self.columns = keys, keys + values
        self.known = set()
        old = whole_lines(path) if os.path.exists(path) else []
        rows = csv.DictReader(line for line in old if not line.startswith('#'))
        goes_on = rows.fieldnames is not None
        if goes_on:
            if rows.fieldnames != self.columns:
                raise SystemExit(f"error: '{path}' holds another table; move it away")
            device = [line for line in lines if line.startswith('device: ')]
            if any(line.startswith('# device: ') and line[2:] not in device for line in old):
                raise SystemExit(f"error: '{path}' was measured on another device; move it away")
            self.known = {tuple(row[key] for key in keys) for row in rows}
        self.file = open(path, 'a' if goes_on else 'w', encoding='utf-8', newline='')
        self.writer = csv.DictWriter(self.file, self.columns, lineterminator='\n')
        if not goes_on:
            self.file.write(''.join(f'# {line}\n' for line in lines))
            self.writer.writeheader()
            self.file.flush()

    def has(self, row):
        return tuple(str(row.get(key, '')) for key in self.keys) in self.known

    def add(self, row):
        self.writer.writerow(row)
        self.file.flush()
        self.known.add(tuple(str(row.get(key, '')) for key in self.keys))
