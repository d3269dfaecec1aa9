"""What the PyTorch measurements share: timing by events, the head of a table, rows that are not measured twice."""

import csv
import datetime
import math
import os
import statistics

KNOWN_GPUS = (('H200', 'h200-sxm-141gb'), ('H100 80GB HBM3', 'h100-sxm5-80gb'), ('A100-SXM4-80GB', 'a100-sxm4-80gb'),
              ('A100-SXM4-40GB', 'a100-sxm4-40gb'), ('A100 80GB PCIe', 'a100-pcie-80gb'), ('GB200', 'gb200'),
              ('B200', 'b200-sxm-192gb'))


def gpu_key(torch):
    name = torch.cuda.get_device_name(0)
    for part, key in KNOWN_GPUS:
        if part in name:
            return key
    raise SystemExit(f"error: no shipped GPU is known for '{name}'")


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


def time_calls(torch, call, seconds=0.4, warmups=3):
    """Microseconds of one call, as (median, low, high)."""
    for _ in range(warmups):
        call()
    torch.cuda.synchronize()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    samples = []
    spent = 0.0
    while len(samples) < 11 or (spent < seconds and len(samples) < 101):
        begin.record()
        call()
        end.record()
        end.synchronize()
        samples.append(1e3 * begin.elapsed_time(end))
        spent += samples[-1] * 1e-6
    return interval(samples)


class Table:
    """A CSV file that grows row by row; what it holds already is known by its key columns."""

    def __init__(self, path, lines, keys, values):
        self.keys, self.columns = keys, keys + values
        self.known = set()
        fresh = not os.path.exists(path)
        if not fresh:
            with open(path, encoding='utf-8') as file:
                rows = csv.DictReader(line for line in file if not line.startswith('#'))
                if rows.fieldnames != self.columns:
                    raise SystemExit(f"error: '{path}' holds another table; move it away")
                self.known = {tuple(row[key] for key in keys) for row in rows}
        self.file = open(path, 'a', encoding='utf-8', newline='')
        self.writer = csv.DictWriter(self.file, self.columns, lineterminator='\n')
        if fresh:
            self.file.write(''.join(f'# {line}\n' for line in lines))
            self.writer.writeheader()
            self.file.flush()

    def has(self, row):
        return tuple(str(row.get(key, '')) for key in self.keys) in self.known

    def add(self, row):
        self.writer.writerow(row)
        self.file.flush()
        self.known.add(tuple(str(row.get(key, '')) for key in self.keys))
