#!/usr/bin/env python3
"""The GPU suite compiles wherever nvcc is, and its programs answer without a GPU; exit code 77 (skipped) without nvcc."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def expect(condition, what, output=''):
    if not condition:
        sys.exit(f'FAILED: {what}\n{output}')


def check_compiled(source, build, jobs):
    cache = ['-DCMAKE_CUDA_COMPILER_LAUNCHER=ccache'] if shutil.which('ccache') else []
    code, output = run('cmake', '-S', source, '-B', build, '-DCMAKE_CUDA_ARCHITECTURES=90', *cache)
    expect(code == 0, 'the suite can be configured', output)
    code, output = run('cmake', '--build', build, '--parallel', jobs)
    expect(code == 0, 'the suite compiles', output)
    program = os.path.join(build, 'measure_gpu')
    code, output = run(program, '--list')
    expect(code == 0 and 'gemm' in output and 'interference' in output, '--list names the families', output)
    code, output = run(program, '--families', 'gemn')
    expect(code == 2 and "no family 'gemn'" in output, 'an unknown family is refused', output)
    code, output = run(program, '--budget', 'soon')
    expect(code == 2 and '--budget' in output, 'a bad budget is refused', output)
    if not os.path.exists('/dev/nvidia0'):
        with tempfile.TemporaryDirectory() as folder:
            code, output = run(program, '--out', folder)
            expect(code == 3 and 'no GPU' in output, 'without a GPU it says so', output)


def check_scripts(source):
    for script in ('attention.py', 'train_step.py'):
        code, output = run(sys.executable, '-B', os.path.join(source, script), '--dry-run')
        expect(code == 0 and len(output.splitlines()) > 30, f'{script} says what it would measure', output)


def check_measure_script(source):
    script = os.path.join(source, 'measure.sh')
    with tempfile.TemporaryDirectory() as folder:
        code, output = run('bash', script, folder, 'soon')
        expect(code == 2 and "'soon' is no number" in output, 'measure.sh refuses a bad time', output)
        if shutil.which('nvidia-smi') is None:
            code, output = run('bash', script, folder)
            expect(code == 3 and 'no GPU' in output, 'measure.sh says that there is no GPU', output)


def check_table(source):
    spec = importlib.util.spec_from_file_location('torch_tables', os.path.join(source, 'torch_tables.py'))
    tables = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
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
    source, build = sys.argv[1], sys.argv[2]
    check_scripts(source)
    check_measure_script(source)
    check_table(source)
    if shutil.which('nvcc') is None and not os.path.exists('/usr/local/cuda/bin/nvcc'):
        print('no nvcc here: the GPU suite is not compiled')
        sys.exit(SKIPPED)
    if shutil.which('nvcc') is None:
        os.environ['PATH'] += os.pathsep + '/usr/local/cuda/bin'
    check_compiled(source, build, str(os.cpu_count() or 2))


if __name__ == '__main__':
    main()
