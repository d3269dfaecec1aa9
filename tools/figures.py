#!/usr/bin/env python3
"""Console blocks of README.md, docs/search.md and docs/usage.md come from runs: this script writes or checks them.

    tools/figures.py BINARY             rewrites the pages
    tools/figures.py BINARY --check     exit code 1 when a console block differs from the command's output

A console block starts with "$ ./run ARGUMENTS" and holds its output. The table between the marks "accuracy" has a
row for each published figure of a shipped scenario; it takes longer, so --check leaves it out.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / 'README.md'
PAGES = (README, ROOT / 'docs' / 'search.md', ROOT / 'docs' / 'usage.md')
UNITS = {'step_time_s': ('step time', 's', 1.0), 'mfu': ('MFU', '%', 100.0),
         'model_flops_per_s_per_gpu': ('model FLOP rate per GPU', 'TFLOP/s', 1e-12),
         'tokens_per_s_per_gpu': ('tokens/s/GPU', '', 1.0)}


def run(binary, arguments):
    command = arguments.split()
    if not any(ROOT.glob(f'tools/**/{command[0]}.cc')):
        command = ['run', *command, '--no-out']  # like ./run, but without files
    done = subprocess.run([binary, *command, '--no-color'], capture_output=True, text=True, check=False, cwd=ROOT)
    return done.stdout or done.stderr


FINGERPRINT = re.compile(r'\bconfig [0-9a-f]{8}\b')


def results_only(text):
    """Without the simulator's wall time and memory, which differ from run to run, and the configuration's fingerprint,
    which a new key changes without changing any result."""
    text = re.sub(r'; \d+\.\d+ s, +\d+\s+MiB', '', text)
    return FINGERPRINT.sub('config', text)


def console_blocks(binary, text, checking):
    def replaced(match):
        printed = run(binary, match.group(1)).rstrip()
        if results_only(match.group(2).rstrip()) != results_only(printed):
            return f'```console\n$ ./run {match.group(1)}\n{printed}\n```'
        now = FINGERPRINT.search(printed)
        return FINGERPRINT.sub(now.group(0), match.group(0)) if now and not checking else match.group(0)
    return re.sub(r'```console\n\$ \./run ([^\n]*)\n(.*?)```', replaced, text, flags=re.S)


def accuracy_table(binary):
    rows = ['| scenario | GPUs | published | predicted | difference | simulated in |', '|---|---|---|---|---|---|']
    for path in sorted((ROOT / 'configs/scenarios').glob('*.yaml')):
        if 'published:' not in path.read_text(encoding='utf-8'):
            continue
        result = json.loads(run(binary, f'run {path.stem} --json'))
        for figure in result['published']:
            what, unit, scale = UNITS[figure['metric']]
            print(path.stem, what, f'{100 * figure["difference"]:+.1f} %', file=sys.stderr)
            rows.append(f'| `{path.stem}` | {result["job"]["gpus"]:,} | {what} {figure["published"] * scale:.4g} {unit} | '
                        f'{figure["ours"] * scale:.4g} {unit} | {100 * figure["difference"]:+.1f} % | '
                        f'{result["engine"]["wall_s"]:.1f} s |')
    return '\n'.join(rows)


def main(arguments):
    if len(arguments) not in (1, 2) or arguments[1:] not in ([], ['--check']):
        print(__doc__)  # anything else would rewrite the pages
        return 2
    binary = str(Path(arguments[0]).resolve())
    checking = '--check' in arguments
    differing = 0
    for page in PAGES:
        old = page.read_text(encoding='utf-8')
        new = console_blocks(binary, old, checking)
        if checking:
            if new != old:
                print(f'{page.name} differs from the output of the program; run tools/figures.py BINARY')
                differing = 1
            continue
        new = re.sub(r'(<!-- accuracy -->\n).*?(<!-- end -->)',
                     lambda m: f'{m.group(1)}{accuracy_table(binary)}\n{m.group(2)}', new, flags=re.S)
        page.write_text(new, encoding='utf-8')
    return differing


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
