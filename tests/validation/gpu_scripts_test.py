#!/usr/bin/env python3
"""The scripts that measure on a GPU, run without one: a PyTorch that computes nothing, an nvidia-smi and a suite that pretend."""

import csv
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FAKE_TORCH = Path(__file__).resolve().parents[1] / 'support' / 'fake_torch'
SCRIPTS = {'attention.py': ('attention.csv',), 'grouped_gemm.py': ('grouped_gemm_torch.csv',),
           'train_step.py': ('layers.csv', 'train_step.csv')}
LISTED = ('host_ops.py', 'sustained.py')  # run for seconds of wall clock, or time the host


def expect(condition, what, output=''):
    if not condition:
        sys.exit(f'FAILED: {what}\n{output}')


def run(command, **variables):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **variables})
    return done.returncode, done.stdout + done.stderr


def run_script(source, script, folder, *words, trouble='', gpu='NVIDIA H200'):
    return run([sys.executable, '-B', os.path.join(source, script), '--out', folder, *words],
               PYTHONPATH=str(FAKE_TORCH), FAKE_TORCH=trouble, FAKE_GPU=gpu)


def rows_of(folder, table):
    with open(os.path.join(folder, table), encoding='utf-8') as file:
        return list(csv.DictReader(line for line in file if not line.startswith('#')))


def check_dry_run(source):
    for script in SCRIPTS:
        code, output = run([sys.executable, '-B', os.path.join(source, script), '--dry-run'])
        expect(code == 0 and len(output.splitlines()) > 30, f'{script} lists what it would measure', output)
    for script in LISTED:
        code, output = run([sys.executable, '-B', os.path.join(source, script), '--dry-run'])
        expect(code == 0 and output, f'{script} lists what it would measure', output)
        with tempfile.TemporaryDirectory() as folder:
            code, output = run_script(source, script, folder, trouble='no gpu')
            expect(code == 1 and 'PyTorch finds no GPU' in output, f'{script} needs a GPU', output[-500:])


def check_whole_run(source, script, tables):
    with tempfile.TemporaryDirectory() as folder:
        code, output = run_script(source, script, folder, '--quick')
        expect(code == 0, f'{script} runs to its end', output)
        for table in tables:
            rows = rows_of(folder, table)
            expect(rows and all(len(row) == len(rows[0]) and all(row[key] != '' for key in row if key != 'layout') for row in rows),
                   f'{table} has a value in every cell', str(rows))
        before = {table: Path(folder, table).read_text(encoding='utf-8') for table in tables}
        code, output = run_script(source, script, folder, '--quick')
        after = {table: Path(folder, table).read_text(encoding='utf-8') for table in tables}
        expect(code == 0 and before == after, f'{script} measures nothing twice', output)
        code, output = run_script(source, script, folder, '--quick', gpu='NVIDIA H100 80GB HBM3')
        expect(code == 1 and 'another device' in output, f'{script} does not mix two devices in a table', output)


def check_killed_run(source, script, tables):
    with tempfile.TemporaryDirectory() as folder:
        run_script(source, script, folder, '--quick')
        whole = {table: Path(folder, table).read_text(encoding='utf-8') for table in tables}
        for table in tables:  # killed in the middle of its last row
            Path(folder, table).write_text(whole[table][:-5], encoding='utf-8')
        code, output = run_script(source, script, folder, '--quick')
        again = {table: Path(folder, table).read_text(encoding='utf-8') for table in tables}
        expect(code == 0 and whole == again, f'{script} continues after the last whole row', output)
        for table in tables:  # killed before the columns were written
            Path(folder, table).write_text('# gpu: ', encoding='utf-8')
        code, output = run_script(source, script, folder, '--quick')
        again = {table: Path(folder, table).read_text(encoding='utf-8') for table in tables}
        expect(code == 0 and whole == again, f'{script} starts a new table where there was none', output)


def check_troubles(source, script, tables):
    with tempfile.TemporaryDirectory() as folder:
        code, output = run_script(source, script, folder, trouble='no memory')
        expect(code == 0 and 'skipped: ' in output, f'{script} skips what does not fit and continues', output[-500:])
        code, output = run_script(source, script, folder, trouble='no kernel')
        expect(code == 0 and 'No available kernel' in output and 'Traceback' not in output,
               f'{script} skips what there is no kernel for', output[-500:])
        expect(all(Path(folder, table).is_file() for table in tables), f'{script} leaves its tables')
    with tempfile.TemporaryDirectory() as folder:
        for trouble, words in (('no gpu', 'PyTorch finds no GPU'), ('device lost', 'the device has failed')):
            code, output = run_script(source, script, folder, trouble=trouble)
            expect(code == 1 and words in output and 'Traceback' not in output, f'{script} prints: {words}', output[-500:])
        code, output = run_script(source, script, folder, gpu='NVIDIA Unheard-of')
        expect(code == 1 and 'no shipped GPU' in output, f'{script} refuses a GPU that it does not know', output)
        code, output = run_script(source, script, folder, gpu='NVIDIA H100 80GB HBM3 MIG 3g.40gb')
        expect(code == 1 and 'slice' in output, f'{script} refuses a slice of a GPU', output)


def check_budget(source, script):
    with tempfile.TemporaryDirectory() as folder:
        code, output = run_script(source, script, folder, '--budget', '0.000001')
        expect(code == 4 and 'run again' in output, f'{script} ends when the time is up', output)
        code, output = run_script(source, script, folder, '--budget', 'soon')
        expect(code == 2 and 'soon' in output, f'{script} refuses a bad time', output)


def write_program(path, text):
    Path(path).write_text('#!/bin/bash\n' + text, encoding='utf-8')
    os.chmod(path, 0o755)


class Machine:
    """A folder of programs that pretend, before all others in PATH."""

    def __init__(self, folder, suite, torch=True):
        self.folder, self.out = folder, os.path.join(folder, 'out')
        write_program(os.path.join(folder, 'nvidia-smi'), 'echo "GPU 0: NVIDIA H200"\n')
        write_program(os.path.join(folder, 'suite'), suite)
        self.variables = {'PATH': folder + os.pathsep + os.environ['PATH'], 'PYTHONPATH': str(FAKE_TORCH),
                          'FAKE_TORCH': '' if torch else 'no gpu', 'MEASURE_GPU': os.path.join(folder, 'suite')}

    def measure(self, source, *words):
        return run(['bash', os.path.join(source, 'measure.sh'), self.out, *words], **self.variables)


# Writes down the words that it was called with, and one answer for a family.
SUITE = 'echo "$@" >>"$2/called"\n'
FAMILIES = ['launches', 'gemm', 'memory', 'primitives', 'interference', 'host_copies', 'offload', 'grouped_gemm', 'elementwise',
            'training']


def families_called(machine):
    return [line.split()[3] for line in Path(machine.out, 'called').read_text(encoding='utf-8').splitlines()]


def check_measure_script(source):
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder, SUITE)
        for words in ('soon', '0', '-5'):
            code, output = machine.measure(source, words)
            expect(code == 2 and f"'{words}' is no number" in output, 'measure.sh refuses a bad time', output)
        code, output = machine.measure(source, '60')
        expect(code in (0, 4), 'measure.sh runs to its end', output)
        expect(families_called(machine) == FAMILIES, 'every family is measured, in a process of its own', output)
        expect(Path(machine.out, 'attention.csv').is_file(), 'and what needs PyTorch', output)
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder, SUITE + '[ "$4" != gemm ] || exit 1\n[ "$4" != memory ] || exit 4\n', torch=False)
        code, output = machine.measure(source, '60')
        expect(code == 1 and 'failed: gemm\n' in output, 'a family that fails is reported', output)
        expect('run again to continue: memory' in output, 'and one that has more to measure', output)
        expect('PyTorch' in output, 'and that PyTorch is missing', output)
        expect(families_called(machine) == FAMILIES, 'and the rest continues', output)
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder, SUITE + '[ "$4" != primitives ] || sleep 1000\n', torch=False)
        Path(folder, 'timeout').write_text('', encoding='utf-8')
        write_program(os.path.join(folder, 'timeout'),  # as the real one, but not as patient
                      '[ "$1" = -k ] && shift 3 || shift\nexec ' + shutil.which('timeout') + ' -k 1 2 "$@"\n')
        code, output = machine.measure(source, '60')
        expect(code == 1 and 'primitives: did not end in its time' in output, 'a family that hangs is ended', output)
        expect(families_called(machine) == FAMILIES, 'and the rest continues', output)
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder, SUITE, torch=False)
        os.remove(os.path.join(folder, 'suite'))
        code, output = machine.measure(source, '60')
        expect(code == 1 and 'there is no program' in output, 'a missing suite is reported', output)
        write_program(os.path.join(folder, 'nvidia-smi'), 'exit 9\n')
        code, output = machine.measure(source, '60')
        expect(code == 3 and 'no GPU' in output, 'measure.sh reports that there is no GPU', output)
        write_program(os.path.join(folder, 'suite'), SUITE)
        write_program(os.path.join(folder, 'nvidia-smi'), 'echo "GPU 0: NVIDIA H200"\n')
        code, output = machine.measure(source, '2')
        expect('no time is left' in output and code in (1, 4), 'a lack of time is reported', output)


def check_table(source):
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location('torch_tables', os.path.join(source, 'torch_tables.py'))
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    expect(tables.interval([5, 1, 4, 2, 3]) == (3, 1, 5), 'the median and its interval')
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'table.csv')
        table = tables.Table(path, ['gpu: none'], ['m', 'mask'], ['time_us'])
        table.add({'m': 8, 'mask': 'causal', 'time_us': '1.5'})
        table.file.close()
        again = tables.Table(path, ['gpu: none'], ['m', 'mask'], ['time_us'])
        expect(again.has({'m': 8, 'mask': 'causal'}), 'what was measured is known to the next run')
        expect(not again.has({'m': 16, 'mask': 'causal'}), 'what was not is not')
        again.file.close()
        expect(Path(path).read_text(encoding='utf-8') == '# gpu: none\nm,mask,time_us\n8,causal,1.5\n', 'the file is as written')


def main():
    source = sys.argv[1]
    check_dry_run(source)
    check_table(source)
    for script, tables in SCRIPTS.items():
        check_whole_run(source, script, tables)
        check_killed_run(source, script, tables)
        check_troubles(source, script, tables)
        check_budget(source, script)
    check_measure_script(source)


if __name__ == '__main__':
    main()
