#!/usr/bin/env python3
"""What `inspect` prints of a profiler trace, for people and for scripts. Usage: inspect_test.py BINARY"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

BINARY = sys.argv.pop(1) if len(sys.argv) > 1 else ''

# An all-reduce of 2^22 elements of 2 bytes among two ranks in 200 us: 2 (n - 1) / n = 1 times 8 MiB / 200 us.
TRACE = {'distributedInfo': {'backend': 'nccl', 'rank': 0, 'world_size': 2},
         'traceEvents': [{'ph': 'X', 'cat': 'kernel', 'name': 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)', 'pid': 0,
                          'tid': 20, 'ts': 10, 'dur': 200,
                          'args': {'stream': 20, 'device': 0, 'correlation': 1, 'Collective name': 'allreduce',
                                   'In msg nelems': 2 ** 22, 'Out msg nelems': 2 ** 22, 'Group size': 2,
                                   'dtype': 'BFloat16', 'Process Group Name': '0'}}]}


class InspectTest(unittest.TestCase):
    def test_values_of_a_trace_are_numbers_in_json(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'rank0.json')
            with open(path, 'w', encoding='utf-8') as file:
                json.dump(TRACE, file)
            done = subprocess.run([BINARY, 'inspect', path, '--json'], capture_output=True, text=True, check=True)
            self.assertIn('"median_s": 0.0002,', done.stdout)  # and not 0.00019999999999999998
            call = json.loads(done.stdout)[0]['collectives'][0]
            self.assertAlmostEqual(call['busbw_gb_s'], 2 ** 23 / 200e-6 / 1e9, places=3)
            text = subprocess.run([BINARY, 'inspect', path], capture_output=True, text=True, check=True).stdout
            self.assertIn('41.94', text)

    def test_a_size_that_is_not_recorded_is_not_zero(self):
        trace = json.loads(json.dumps(TRACE))
        del trace['traceEvents'][0]['args']['In msg nelems'], trace['traceEvents'][0]['args']['Out msg nelems']
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'rank0.json')
            with open(path, 'w', encoding='utf-8') as file:
                json.dump(trace, file)
            done = subprocess.run([BINARY, 'inspect', path, '--json'], capture_output=True, text=True, check=False)
            call = json.loads(done.stdout)[0]['collectives'][0]
            self.assertIsNone(call['size_bytes'])
            self.assertIsNone(call['busbw_gb_s'])
            text = subprocess.run([BINARY, 'inspect', path], capture_output=True, text=True, check=False).stdout
            self.assertNotIn('0 B', text)


if __name__ == '__main__':
    unittest.main()
