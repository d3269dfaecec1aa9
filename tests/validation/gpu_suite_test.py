#!/usr/bin/env python3
"""The GPU suite compiles wherever nvcc is, and its programs answer without a GPU; exit code 77 (skipped) without nvcc."""

import os
import shutil
import subprocess
import sys
import tempfile

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
            expect(code == 3 and 'no GPU' in output, 'a missing GPU is reported', output)


def main():
    source, build = sys.argv[1], sys.argv[2]
    if shutil.which('nvcc') is None and not os.path.exists('/usr/local/cuda/bin/nvcc'):
        print('no nvcc here: the GPU suite is not compiled')
        sys.exit(SKIPPED)
    if shutil.which('nvcc') is None:
        os.environ['PATH'] += os.pathsep + '/usr/local/cuda/bin'
    check_compiled(source, build, str(os.cpu_count() or 2))


if __name__ == '__main__':
    main()
