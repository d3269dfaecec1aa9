#!/usr/bin/env python3
"""The Python module: results equal those of the command line. Usage: python_test.py BINARY FOLDER_OF_THE_MODULE EXAMPLE"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

BINARY, FOLDER, EXAMPLE = (str(Path(argument).absolute()) for argument in sys.argv[1:4])
del sys.argv[1:4]
sys.path.insert(0, FOLDER)

import ringwright  # noqa: E402

HAS_NUMPY = importlib.util.find_spec('numpy') is not None
MEASURED = Path(__file__).parents[3] / 'validation' / 'measurements'
SCENARIO = 'gpt2-1.5b-dgx-a100'  # runs in milliseconds


def command(*arguments):
    done = subprocess.run([BINARY, *arguments, '--json', '-q'], capture_output=True, text=True, timeout=120, check=True)
    return json.loads(done.stdout)


class PythonTest(unittest.TestCase):
    def test_a_run_is_that_of_the_command_line(self):
        ours = ringwright.run(SCENARIO, set={'training.micro_batch': 2, 'training.recompute': 'full'})
        theirs = command('run', SCENARIO, '--no-out', '--set', 'training.micro_batch=2', '--set', 'training.recompute=full')
        for key in ('metrics', 'breakdown', 'memory', 'step_ps'):
            self.assertEqual(ours[key], theirs[key])
        self.assertEqual(ours['config']['sha256'], theirs['config']['sha256'])

    def test_folding_does_not_change_a_result(self):
        self.assertEqual(ringwright.run(SCENARIO)['step_ps'], ringwright.run(SCENARIO, fold=False)['step_ps'])

    def test_a_scenario_may_be_a_dictionary(self):
        scenario = {'version': 1, 'name': 'mine', 'model': {'preset': 'gpt2-1.5b', 'seq_length': 1024},
                    'training': {'global_batch': 64, 'micro_batch': 4, 'precision': 'bf16', 'recompute': 'none'},
                    'parallel': {'dp': 'auto'},
                    'cluster': {'nodes': 1, 'node': {'preset': 'dgx-a100'}, 'fabric': {'type': 'single_node'}},
                    'simulate': {'steps': 1, 'network': 'flow'}}
        self.assertEqual(ringwright.run(scenario)['step_ps'], ringwright.run(SCENARIO)['step_ps'])

    def test_mistakes_are_exceptions_with_the_message_of_the_command(self):
        with self.assertRaisesRegex(ringwright.Error, "did you mean 'tp'"):
            ringwright.run(SCENARIO, set={'parallel.tpp': 4})
        with self.assertRaisesRegex(ringwright.Error, "no shipped scenario 'nothing'"):
            ringwright.run('nothing')
        with self.assertRaisesRegex(ringwright.Error, 'not a kind of measurement'):
            ringwright.validate('nonsense')
        with self.assertRaises(ValueError):
            ringwright.sensitivity(SCENARIO, by=2.0)

    def test_sweeps_are_tables_and_are_stored(self):
        plan = {'name': 'small', 'scenario': SCENARIO, 'grid': {'training.micro_batch': [1, 2, 64]}}
        with tempfile.TemporaryDirectory() as folder:
            database = Path(folder) / 'small.sqlite'
            result = ringwright.sweep(plan, database)
            self.assertEqual(ringwright.sweep(plan, database, threads=1), result)
            self.assertTrue(database.exists())
        self.assertEqual([point['status'] for point in result['points']][:2], ['ok', 'ok'])

    @unittest.skipUnless(HAS_NUMPY, 'needs NumPy')
    def test_rows_are_numpy_arrays(self):
        result = ringwright.sweep({'name': 'small', 'scenario': SCENARIO, 'grid': {'training.micro_batch': [1, 2, 64]}})
        table = ringwright.columns(result['points'])
        self.assertEqual(list(table['values.training.micro_batch']), ['1', '2', '64'])
        self.assertEqual(table['step_time_s'].dtype.kind, 'f')
        self.assertEqual(len(table['step_time_s']), 3)

    def test_other_studies_answer(self):
        best = ringwright.search(SCENARIO, set={'search.tp': [1, 2], 'search.replay': 1})
        self.assertGreater(best['predicted'], 0)
        comparison = ringwright.compare(SCENARIO, set={'training.recompute': 'full'})
        change = comparison['differences'][0]
        self.assertEqual(sum(part['ps'] for part in change['changes_ps']), change['change_ps'])
        self.assertGreater(len(ringwright.sensitivity(SCENARIO)['parameters']), 5)
        self.assertGreater(len(ringwright.validate('kernels')['gpus']), 1)

    def test_warnings_are_those_of_python(self):
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / 'h100-sxm5-80gb.gemm.csv'
            table.write_bytes((MEASURED / table.name).read_bytes())
            with self.assertWarnsRegex(UserWarning, 'W247'):
                ringwright.validate('kernels', MEASURED / table.name, table)

    def test_a_result_becomes_a_page(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / 'run.html'
            ringwright.write_report(ringwright.run(SCENARIO), path)
            self.assertTrue(path.read_text(encoding='utf-8').startswith('<!doctype html>'))

    def test_threads_simulate_at_the_same_time_with_the_same_result(self):
        results = [None] * 4

        def simulate(place):
            results[place] = ringwright.run(SCENARIO)['step_ps']

        threads = [threading.Thread(target=simulate, args=(place,)) for place in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(results)), 1)

    @unittest.skipUnless(HAS_NUMPY, 'needs NumPy')
    def test_the_example_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, EXAMPLE], cwd=folder, capture_output=True, text=True, timeout=300,
                                  env={**os.environ, 'PYTHONPATH': FOLDER}, check=False)
            self.assertEqual(done.stderr, '')
            self.assertIn('TP 8:', done.stdout)
            self.assertTrue((Path(folder) / 'tensor_parallelism.html').exists())


if __name__ == '__main__':
    unittest.main()
