#!/usr/bin/env python3
"""Studies as their users run them: interrupted sweeps, shards, comparisons, what-ifs. Usage: studies_test.py BINARY"""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BINARY = str(Path(sys.argv.pop(1)).absolute()) if len(sys.argv) > 1 else ''
KILLS = int(os.environ.get('RINGWRIGHT_KILLS', '8'))  # 50 for a campaign

# 8 layers of 256 wide: a step simulates in milliseconds.
BASE = '''
model: {num_layers: 8, hidden_size: 256, num_attention_heads: 8, num_query_groups: 4, ffn_hidden_size: 512,
        vocab_size: 1000, seq_length: 128}
training: {global_batch: 16}
parallel: {dp: auto}
cluster: {nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}}
what_if:
  - {name: slow GPUs, faults: [{node: 0, compute_scale: 0.5}]}
  - {name: three, set: {parallel.tp: 3}}
'''
# Samples, and no tokens.
RECOMMENDER = '''
recommendation: {preset: facebook-dlrm, global_batch: 4096}
cluster: {nodes: 1, node: {preset: dgx-a100}, fabric: {type: single_node}}
cost: {preset: dgx-a100}
what_if: [{name: half, set: {recommendation.global_batch: 2048}}]
'''
PLAN = '''
name: layouts
scenario: base.yaml
grid: {parallel.tp: [1, 2, 4, 8], parallel.pp: [1, 2, 4], training.micro_batch: [1, 2]}
latin_hypercube: {samples: 3, keys: {cluster.node.nvlink.bandwidth: {from: 100GB/s, to: 900GB/s}}}
'''


class StudiesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.write('base.yaml', BASE)
        self.write('plan.yaml', PLAN)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding='utf-8')

    def call(self, *arguments):
        done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=300, cwd=self.folder,
                              check=False)
        return done.returncode, done.stdout, done.stderr

    def answer(self, *arguments):
        code, out, err = self.call(*arguments)
        self.assertEqual(code, 0, err)
        return out

    def content(self, database):
        """All rows of all tables."""
        with sqlite3.connect(self.folder / database) as opened:
            return {table: opened.execute(f'SELECT * FROM {table}').fetchall()
                    for table in ('points', 'parts', 'sweep_points')}

    def test_search_fixes_keys_of_single_layouts_for_all(self):
        few = ['--vary', 'tp=1', '--fix', 'recompute=none', '--fix', 'sharding=none', '--json']
        found = json.loads(self.answer('search', 'base.yaml', *few, '--fix', 'parallel.layers_per_part=[5,3]'))
        self.assertTrue(found['ranking'])
        for layout in found['ranking']:
            self.assertEqual(layout['layers_per_part'], [5, 3])
        for setting, why in (('parallel.dp=2', "'parallel.dp' follows from the GPUs and tp, pp and cp"),
                             ('parallel.zero.stage=2', "'parallel.zero.stage' is varied as search.sharding")):
            code, _, err = self.call('search', 'base.yaml', '--fix', setting)
            self.assertEqual((code, why in err), (2, True), err)

    def test_search_takes_fixed_files_into_the_scenario(self):
        self.write('ds.json', '{"train_batch_size": 8, "train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true}}')
        few = ['--vary', 'tp=1', '--vary', 'pp=1', '--fix', 'recompute=none', '--fix', 'sharding=none', '--json']
        self.write('deep.yaml', BASE.replace('training: {global_batch: 16}', 'training: {}'))
        found = json.loads(self.answer('search', 'deep.yaml', *few, '--fix', 'training.deepspeed=ds.json'))
        self.assertEqual([layout['micro_batch'] for layout in found['ranking']], ['1'])
        self.assertTrue(json.loads(self.answer('search', 'base.yaml', *few, '--fix', 'parallel.dp=auto'))['ranking'])

    def test_search_refuses_keys_that_no_scenario_has(self):
        code, _, err = self.call('search', 'base.yaml', '--vary', 'training.micro_batches=1,2')
        self.assertEqual(code, 2)
        self.assertIn("there is no key 'training.micro_batches'; did you mean 'training.micro_batch'?", err)

    def test_search_refuses_an_axis_that_is_given_twice(self):
        for options in (['--vary', 'tp=1,2', '--fix', 'parallel.tp=1'], ['--fix', 'tp=1', '--fix', 'tp=2']):
            code, out, err = self.call('search', 'base.yaml', *options)
            self.assertEqual(code, 2, out)
            self.assertIn('is given twice by --fix and --vary', err)

    def test_studies_of_recommendation_models_count_samples(self):
        self.write('dlrm.yaml', RECOMMENDER)
        self.write('batches.yaml', 'name: batches\nscenario: dlrm.yaml\n'
                                   'grid: {recommendation.global_batch: [2048, 4096]}\n')
        for _ in range(2):  # simulated, and from the database
            self.assertIn('samples/s/GPU     MFU', self.answer('sweep', 'batches.yaml', '--html', 'sweep.html'))
            points = json.loads(self.answer('sweep', 'batches.yaml', '--json'))['points']
            self.assertEqual([point['tokens_are'] for point in points], ['samples', 'samples'])
        self.assertIn('"samples/s per GPU"', (self.folder / 'sweep.html').read_text(encoding='utf-8'))
        self.answer('sweep', 'batches.yaml', '--csv', 'batches.csv')
        self.assertIn(',samples,', (self.folder / 'batches.csv').read_text(encoding='utf-8').splitlines()[1])
        asked = self.answer('what-if', 'dlrm.yaml')
        self.assertIn('samples/s', asked)
        self.assertIn('$/sample ', asked)
        self.assertNotIn('token', asked)
        half = ['--set', 'recommendation.global_batch=2048']
        self.assertIn('samples/s/GPU', self.answer('compare', 'dlrm.yaml', *half))
        sides = json.loads(self.answer('compare', 'dlrm.yaml', *half, '--json'))['sides']
        self.assertEqual([side['tokens_are'] for side in sides], ['samples', 'samples'])
        # A model that predicts tokens next to it.
        self.assertIn('tokens or samples/s/GPU', self.answer('compare', 'dlrm.yaml', 'base.yaml'))
        self.assertNotIn('tokens_are', self.answer('what-if', 'base.yaml', '--json'))

    def test_jobs_say_what_a_step_processes(self):
        self.write('two.yaml', 'cluster: {nodes: 2, node: {preset: dgx-a100}, fabric: {type: rail_optimized}}\n'
                               'jobs: [{name: a, gpus: 8, scenario: dlrm.yaml}, {name: b, gpus: 8, scenario: dense.yaml}]\n')
        self.write('dense.yaml', BASE.replace('dgx-h100', 'dgx-a100'))
        self.write('operation.yaml', 'scenario: dlrm.yaml\nduration: 1 d\nrepetitions: 1\n'
                                     'components: {host: {per: host, mtbf: 100 h}}\n')
        self.write('dlrm.yaml', RECOMMENDER)
        first, second = json.loads(self.answer('jobs', 'two.yaml', '--json'))['arrangements'][0]['jobs']
        self.assertEqual(first['tokens_are'], 'samples')
        self.assertNotIn('tokens_are', second)
        months = ['goodput', 'operation.yaml', '--no-intervals', '--no-compare']
        self.assertIn(' samples/s\n', self.answer(*months))
        self.assertEqual(json.loads(self.answer(*months, '--json'))['job']['tokens_are'], 'samples')

    def test_a_killed_sweep_loses_nothing_and_goes_on(self):
        started = time.monotonic()
        whole = self.answer('sweep', 'plan.yaml', '--db', 'whole.sqlite', '--json', '-q')
        seconds = time.monotonic() - started
        stream = random.Random(7)
        stored = 0
        for _ in range(KILLS):
            process = subprocess.Popen([BINARY, 'sweep', 'plan.yaml', '--db', 'killed.sqlite', '-q'], cwd=self.folder,
                                       stdout=subprocess.DEVNULL)
            time.sleep(stream.uniform(0.0, seconds))
            process.send_signal(signal.SIGKILL)
            process.wait()
            if (self.folder / 'killed.sqlite').exists():
                with sqlite3.connect(self.folder / 'killed.sqlite') as opened:
                    tables = opened.execute("SELECT count(*) FROM sqlite_master WHERE name = 'points'").fetchone()[0]
                    now = opened.execute('SELECT count(*) FROM points').fetchone()[0] if tables else 0
                self.assertGreaterEqual(now, stored)
                stored = now
        self.assertEqual(self.answer('sweep', 'plan.yaml', '--db', 'killed.sqlite', '--json', '-q'), whole)
        self.assertEqual(self.content('killed.sqlite'), self.content('whole.sqlite'))

    def test_one_thread_and_two_store_the_same(self):
        one = self.answer('sweep', 'plan.yaml', '--db', 'one.sqlite', '-j', '1', '--json', '-q')
        self.assertEqual(self.answer('sweep', 'plan.yaml', '--db', 'two.sqlite', '-j', '2', '--json', '-q'), one)
        self.assertEqual(self.content('one.sqlite'), self.content('two.sqlite'))

    def test_capacity_is_the_same_with_one_thread_and_two(self):
        self.write('run.yaml', 'scenario: base.yaml\ntokens: 1e9\nmachines:\n  - {name: a, hosts: [1]}\n'
                               '  - {name: b, set: {cluster.node.preset: dgx-a100}}\n')
        one = self.answer('capacity', 'run.yaml', '-j', '1', '--json', '-q')
        self.assertEqual(self.answer('capacity', 'run.yaml', '-j', '2', '--json', '-q'), one)
        result = json.loads(one)
        self.assertEqual([offer['machine'] for offer in result['offers']], ['a', 'b'])
        self.assertEqual(result['ranking'][0], 0)  # H100 before A100

    def test_capacity_without_a_machine_within_the_budget_is_infeasible(self):
        self.write('run.yaml', 'scenario: base.yaml\ntokens: 1e9\nbudget: {days: 0}\nmachines: [{name: a}]\n')
        code, out, _ = self.call('capacity', 'run.yaml')
        self.assertNotEqual(code, 0)
        self.assertIn('over budget', out)

    def test_shards_of_a_batch_array_join(self):
        whole = self.answer('sweep', 'plan.yaml', '--db', 'whole.sqlite', '--json', '-q')
        merges = []
        for part in (1, 2, 3):
            self.answer('sweep', 'plan.yaml', '--db', f'part{part}.sqlite', '--shard', f'{part}/3', '-q')
            merges += ['--merge', f'part{part}.sqlite']
        out = self.answer('sweep', 'plan.yaml', '--db', 'joined.sqlite', *merges)
        self.assertIn('0 simulated now', out)
        self.assertEqual(self.answer('sweep', 'plan.yaml', '--db', 'joined.sqlite', '--json', '-q'), whole)

    def test_ranks_of_mpi_share_the_points(self):
        if shutil.which('mpirun') is None:
            self.skipTest('there is no mpirun')
        whole = self.answer('sweep', 'plan.yaml', '--db', 'whole.sqlite', '--json', '-q')
        for ranks in ('2', '3'):
            done = subprocess.run(['mpirun', '--oversubscribe', '--allow-run-as-root', '-n', ranks, BINARY, 'sweep',
                                   'plan.yaml', '--db', f'ranks{ranks}.sqlite', '--json', '-q'],
                                  capture_output=True, text=True, timeout=300, cwd=self.folder, check=False)
            if 'this build has no MPI' in done.stderr:
                self.skipTest('the program was built without MPI')
            self.assertEqual((done.returncode, done.stdout), (0, whole), done.stderr)
            self.assertEqual(self.content(f'ranks{ranks}.sqlite'), self.content('whole.sqlite'))

    def test_a_sweep_lists_impossible_points_with_their_reason(self):
        result = json.loads(self.answer('sweep', 'plan.yaml', '--json', '-q'))
        self.assertEqual(result['schema'], 'ringwright.sweep/1')
        self.assertEqual(len(result['points']), 72)
        refused = [point for point in result['points'] if point['status'] == 'refused']
        self.assertEqual(len(refused), result['refused'])
        self.assertTrue(all(point['reason'] and point['code'] for point in refused))
        best = result['points'][result['ranking'][0]]
        settings = [f'--set={key}={value}' for key, value in best['values'].items()]
        run = json.loads(self.answer('run', 'base.yaml', '--json', *settings))
        self.assertEqual(run['step_ps'], best['step_ps'])
        self.assertEqual(run['config']['sha256'], best['fingerprint'])

    def test_compare_reads_results_and_scenarios(self):
        self.answer('run', 'base.yaml', '--out', 'a', '-q')
        self.answer('run', 'base.yaml', '--set', 'parallel.tp=4', '--out', 'b', '-q')
        found = json.loads(self.answer('compare', 'a', 'b/result.json', 'base.yaml', '--json'))
        first, second = found['differences']
        self.assertEqual(sum(change['ps'] for change in first['changes_ps']), first['change_ps'])
        self.assertIn({'key': 'parallel.tp', 'a': '1', 'b': '4'}, first['values'])
        self.assertEqual((second['change_ps'], second['values']), (0, []))
        self.assertIn('From A to B', self.answer('compare', 'base.yaml', '--set', 'parallel.tp=2'))
        self.assertIn('name two scenarios', self.call('compare', 'base.yaml')[2])

    def test_what_ifs_are_answered_one_by_one(self):
        found = json.loads(self.answer('what-if', 'base.yaml', '--json', '-q'))
        slow, three = found['what_ifs']
        self.assertGreater(slow['change_ps'], 0)
        self.assertEqual(sum(change['ps'] for change in slow['changes_ps']), slow['change_ps'])
        self.assertEqual(three['status'], 'refused')
        ignored = json.loads(self.answer('run', 'base.yaml', '--json'))['ignored']
        self.assertIn('what_if', [entry['path'] for entry in ignored])

    def test_sensitivity_names_the_strongest_parameters(self):
        found = json.loads(self.answer('sensitivity', 'base.yaml', '--json', '-q', '--by', '20%'))
        strengths = [abs(parameter['elasticity']) for parameter in found['parameters']]
        self.assertEqual(strengths, sorted(strengths, reverse=True))
        self.assertIn('cluster.node.nic.bandwidth', found['without_effect'])
        self.assertIn("--by is 'much'", self.call('sensitivity', 'base.yaml', '--by', 'much')[2])

    def test_cost_and_energy_are_part_of_the_report(self):
        cost = json.loads(self.answer('run', 'base.yaml', '--json', '--set', 'cost.preset=dgx-h100'))['cost']
        seconds = json.loads(self.answer('run', 'base.yaml', '--json'))['step_ps'] / 1e12
        # 8 x 700 W and 4600 W for the host; 8 GPUs at $3.24 an hour.
        self.assertAlmostEqual(cost['joules_per_step'] / (seconds * 10200), 1.0, places=9)
        self.assertAlmostEqual(cost['usd_per_step'] / (seconds / 3600 * 8 * 3.24), 1.0, places=9)
        self.assertIn('per 1e12 tokens', self.answer('run', 'base.yaml', '--set', 'cost.preset=dgx-a100', '--no-out'))
        self.assertIn('dgx-b200', self.answer('list', 'prices'))

    def test_mistakes_of_a_plan_name_their_place(self):
        self.write('wrong.yaml', 'scenario: base.yaml\ngrid: {training.recompte: [full]}\nwhere: ["parallel.tp <"]\n')
        code, out, err = self.call('sweep', 'wrong.yaml')
        self.assertEqual((code, out), (2, ''))
        self.assertIn("wrong.yaml:2:", err)
        self.assertIn("did you mean 'training.recompute'?", err)
        self.assertIn('E302', err)
        self.write('mine.sqlite', 'my own notes, which no sweep may overwrite')
        self.assertIn('E310', self.call('sweep', 'plan.yaml', '--db', 'mine.sqlite')[2])
        self.assertIn('E306', self.call('sweep', 'plan.yaml', '--shard', '9/8')[2])

    def test_no_file_that_is_read_is_written(self):
        for arguments in (['search', 'base.yaml', '--write', 'base.yaml'], ['search', 'base.yaml', '--csv', './base.yaml'],
                          ['what-if', 'base.yaml', '--html', 'base.yaml'], ['topo', 'base.yaml', '--dot', 'base.yaml']):
            code, out, err = self.call(*arguments)
            self.assertEqual((code, out), (2, ''), arguments)
            self.assertIn('which is read and would be overwritten', err)
            self.assertEqual((self.folder / 'base.yaml').read_text(encoding='utf-8'), BASE)

    def test_a_folder_that_is_missing_is_named_before_the_work(self):
        code, out, err = self.call('search', 'base.yaml', '--csv', 'nowhere/all.csv')
        self.assertEqual((code, out), (2, ''))
        self.assertIn("cannot write 'nowhere/all.csv': there is no folder 'nowhere'", err)

    def test_a_search_warns_of_more_memory_than_there_is(self):
        few = ['search', 'base.yaml', '--fix', 'pp=1', '--vary', 'tp=1,2', '--fix', 'recompute=none', '--max-memory']
        self.assertIn('search.max_memory of 200 GiB has no effect: a GPU has', self.call(*few, '200GiB')[2])
        self.assertNotIn('max_memory', self.call(*few, '40GiB')[2])

    def test_topo_knows_the_keys_of_a_scenario(self):
        for key in ('cluster.nodez=3', 'cluster.fabric.sped=1GB/s', 'nonsense=1'):
            code, out, err = self.call('topo', 'base.yaml', '--set', key)
            self.assertEqual((code, out), (2, ''), key)
            self.assertIn('error[E102]', err)
        code, _, err = self.call('topo', 'base.yaml', '--set', 'parallel.tp=2')
        self.assertEqual(code, 0)
        self.assertIn("warning[W131]: 'parallel.tp=2' has no effect", err)

    # A prediction of a measured run can be run and changed.
    def test_scenarios_of_training_runs_give_their_predictions(self):
        self.write('runs.csv', 'id,model,gpu,n_gpus,tp,pp,mbs,gbs,framework,precision,recompute,step_time_s\n'
                   'ours-001,llama3-8b,H100 SXM5 80GB,16,8,1,1,64,Megatron-LM,bf16,none,4.0\n')
        code, out, err = self.call('validate', 'training', 'runs.csv', '--json', '--scenarios', 'rows')
        self.assertIn(code, (0, 5), err)
        (row,) = json.loads(out)['rows']
        code, out, err = self.call('run', 'rows/ours-001.yaml', '--json', '-q')
        self.assertEqual(code, 0, err)
        self.assertAlmostEqual(json.loads(out)['metrics']['step_time_s']['mean'], row['predicted_s'], delta=1e-5)
        code, _, err = self.call('validate', 'nccl', '--scenarios', 'rows')
        self.assertEqual(code, 2)
        self.assertIn('--scenarios is for `validate training`', err)


if __name__ == '__main__':
    unittest.main()
