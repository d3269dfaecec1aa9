#!/usr/bin/env python3
"""The traces of tools/gpt_trace.py run on each network, with one result at once and message by message.

Usage: gpt_trace_test.py BINARY
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARY = str(Path(sys.argv.pop(1)).absolute()) if len(sys.argv) > 1 else ''
TOOL = Path(__file__).resolve().parents[2] / 'tools/gpt_trace.py'
SMALL = ('--tp', '4', '--pp', '2', '--dp', '2', '--layers', '4', '--microbatches', '4')


def write(*arguments):
    return subprocess.run([sys.executable, '-B', TOOL, *arguments], capture_output=True, text=True, timeout=60, check=False)


class GptTraceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def result(self, network, *options):
        done = subprocess.run(
            [BINARY, 'astra', f'--workload-configuration={self.folder}/gpt',
             f'--comm-group-configuration={self.folder}/comm_group.json',
             f'--system-configuration={self.folder}/system.json',
             f'--network-configuration={self.folder}/{network}.yml', '--backend', 'aware', '--astra-log', *options],
            capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line for line in done.stdout.splitlines() if 'finished' in line]
        self.assertEqual(len(lines), 16)
        return lines

    def test_jobs_run_and_shortcuts_change_no_time(self):
        for order in ('tp-dp-pp', 'tp-pp-dp'):
            made = write(self.folder, *SMALL, '--jitter', '0.3', '--order', order)
            self.assertEqual(made.returncode, 0, made.stderr)
            for network in ('Switch', 'Ring', 'FullyConnected'):
                self.assertEqual(self.result(network), self.result(network, '--no-fold'))

    def test_bad_numbers_are_refused_by_name(self):
        for arguments, message in ((('--dp', '0'), 'argument --dp: 0 must be at least 1'),
                                   (('--jitter', '-3'), 'argument --jitter: -3 must be between 0 and 10'),
                                   (('--layers', '5', '--pp', '2'), '--layers is 5')):
            made = write(self.folder, *arguments)
            self.assertEqual(made.returncode, 2)
            self.assertIn(message, made.stderr)


if __name__ == '__main__':
    unittest.main()
