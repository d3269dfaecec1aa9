#!/usr/bin/env python3
"""The first ten minutes of a new user, command by command, with the mistakes that are made. Usage: walk_test.py BINARY"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARY = str(Path(sys.argv.pop(1)).absolute()) if len(sys.argv) > 1 else ''

# A log as nccl-tests prints it, of a machine with eight H100; its times are made up, near those of such a machine.
LOG = '''# nThread 1 nGpus 8 minBytes 1048576 maxBytes 67108864 step: 4(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid   4242 on      node0 device  0 [0x18] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid   4242 on      node0 device  1 [0x2a] NVIDIA H100 80GB HBM3
#  Rank  2 Group  0 Pid   4242 on      node0 device  2 [0x3a] NVIDIA H100 80GB HBM3
#  Rank  3 Group  0 Pid   4242 on      node0 device  3 [0x5d] NVIDIA H100 80GB HBM3
#  Rank  4 Group  0 Pid   4242 on      node0 device  4 [0x9a] NVIDIA H100 80GB HBM3
#  Rank  5 Group  0 Pid   4242 on      node0 device  5 [0xab] NVIDIA H100 80GB HBM3
#  Rank  6 Group  0 Pid   4242 on      node0 device  6 [0xba] NVIDIA H100 80GB HBM3
#  Rank  7 Group  0 Pid   4242 on      node0 device  7 [0xdb] NVIDIA H100 80GB HBM3
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     1048576        262144     float     sum      -1    36.00   29.13   50.97      0    35.80   29.29   51.26      0
     4194304       1048576     float     sum      -1    54.00   77.67  135.93      0    53.90   77.82  136.18      0
    16777216       4194304     float     sum      -1    107.0  156.80  274.39      0    106.5  157.53  275.68      0
    67108864      16777216     float     sum      -1    293.0  229.04  400.82      0    292.0  229.83  402.19      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 216
'''
HUGGING_FACE = {'model_type': 'llama', 'hidden_size': 4096, 'intermediate_size': 14336, 'num_hidden_layers': 32,
                'num_attention_heads': 32, 'num_key_value_heads': 8, 'vocab_size': 128256}
MINE = '''version: 1
name: mine
model: { hf: ./config.json, seq_length: 4096 }
training: { global_batch: 64, micro_batch: 1, precision: bf16 }
parallel: { tp: 2, dp: auto, zero: { stage: 1 } }
cluster:
  nodes: 2
  node: { preset: dgx-h100 }
  fabric: { type: rail_optimized, leaf: { ports: 64, speed: 400Gbps } }
'''
PLAN = '''name: tensor parallelism
scenario: mine.yaml
grid: { parallel.tp: [1, 2, 4, 8], training.micro_batch: [1, 2] }
'''


class WalkTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name, text in (('config.json', json.dumps(HUGGING_FACE)), ('mine.yaml', MINE), ('plan.yaml', PLAN),
                           ('all_reduce.log', LOG)):
            (self.folder / name).write_text(text, encoding='utf-8')

    def call(self, *arguments):
        return subprocess.run([BINARY, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)

    def says(self, *arguments, code=0):
        done = self.call(*arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def helps(self, *arguments):
        """The message about a mistake; nothing goes to standard output."""
        done = self.call(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ''), done.stderr)
        return done.stderr

    def test_from_the_first_command_to_a_page(self):
        self.assertIn('usage: ringwright COMMAND', self.call().stderr)
        self.assertIn('llama3-8b-8-h100', self.says('list', 'scenarios'))
        first = self.says('run', 'llama3-8b-8-h100')
        for words in ('Step time', 'MFU', 'Peak memory', 'Where one step goes', 'Evidence'):
            self.assertIn(words, first)
        # The result lies where the program says, and is shown from there.
        self.assertTrue((self.folder / 'out/llama3-8b-8-h100/result.json').exists())
        self.says('report', 'out/llama3-8b-8-h100', '-o', 'first.html', '-q')
        self.assertGreater((self.folder / 'first.html').stat().st_size, 100_000)

    def test_an_own_model_from_hugging_face(self):
        first = json.loads(self.says('run', 'mine.yaml', '--json', '--no-out'))
        self.assertAlmostEqual(first['job']['parameters'] / 8.03e9, 1.0, places=2)
        changed = json.loads(self.says('run', 'mine.yaml', '--set', 'parallel.tp=4', '--json', '--no-out'))
        self.assertNotEqual(first['metrics']['step_time_s'], changed['metrics']['step_time_s'])
        self.assertIn('From A to B', self.says('compare', 'mine.yaml', '--set', 'parallel.tp=4'))
        # Variants lie side by side.
        self.says('run', 'mine.yaml')
        self.says('run', 'mine.yaml', '--set', 'parallel.tp=4')
        self.assertEqual(len(list((self.folder / 'out').iterdir())), 2)

    def test_many_variants_and_the_best_layout(self):
        best = json.loads(self.says('sweep', 'plan.yaml', '--json', '-q'))
        self.assertEqual(best['ok'] + best['too_large'] + best['refused'], 8)
        found = json.loads(self.says('search', 'mine.yaml', '--vary', 'tp=1,2,4,8', '--fix', 'pp=1', '--json', '-q'))
        ranking = found['ranking']
        self.assertGreater(len(ranking), 1)
        self.assertIn('elasticity', self.says('sensitivity', 'gpt2-1.5b-dgx-a100', '-q').lower())

    def test_an_own_log_against_the_simulation(self):
        done = self.call('validate', 'nccl', 'all_reduce.log', '--json')
        self.assertIn(done.returncode, (0, 5))  # 5: further off than the threshold
        result = json.loads(done.stdout)
        self.assertEqual(len(result['logs'][0]['rows']), 4)
        self.assertIn('all_reduce', self.says('inspect', 'all_reduce.log'))

    def test_every_mistake_has_its_place_and_its_remedy(self):
        self.assertIn("did you mean 'search'", self.helps('serach', 'mine.yaml'))
        self.assertIn("did you mean 'run mine.yaml'", self.helps('mine.yaml'))
        self.assertIn("did you mean 'llama3-8b-8-h100'", self.helps('run', 'llama3-8b-8h100'))
        self.assertIn("did you mean 'parallel'", self.helps('run', 'mine.yaml', '--set', 'paralel.tp=2'))
        self.assertIn('--set KEY=VALUE', self.says('run', '--help'))
        for wrong, remedy in ((('preset: dgx-h100', 'preset: dgx_h100'), 'dgx-h100'),
                              (('speed: 400Gbps', 'speed: 400'), '400Gbps'),
                              (('tp: 2', 'tensor_model_parallel_size: 2'), 'parallel.tp'),
                              (('./config.json', './confg.json'), 'config.json'),
                              (('precision: bf16', 'precision: bfloat16'), 'bf16')):
            (self.folder / 'wrong.yaml').write_text(MINE.replace(*wrong), encoding='utf-8')
            message = self.helps('run', 'wrong.yaml')
            self.assertRegex(message, r'wrong\.yaml:\d+:\d+: error\[E\d+\]')
            self.assertIn(remedy, message)
        too_large = self.call('run', 'mine.yaml', '--set', 'parallel.tp=1', '--set', 'training.global_batch=512',
                              '--set', 'training.micro_batch=16', '--no-out')
        self.assertEqual(too_large.returncode, 4)
        self.assertIn('GiB', too_large.stderr)


if __name__ == '__main__':
    unittest.main()
