#!/usr/bin/env python3
"""The program as its users see it: what goes to stdout and stderr, exit codes, files. Usage: cli_test.py BINARY"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARY = str(Path(sys.argv.pop(1)).absolute()) if len(sys.argv) > 1 else ''
SMALL = 'gpt2-1.5b-dgx-a100'  # runs in milliseconds


class CliTest(unittest.TestCase):
    def call(self, *arguments, **environment):
        done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=120,
                              env={**os.environ, 'NO_COLOR': '', **environment}, check=False)
        return done.returncode, done.stdout, done.stderr

    def answer(self, *arguments):
        if arguments[0] == 'run' and '--out' not in arguments:
            arguments += ('--no-out',)
        code, out, err = self.call(*arguments)
        self.assertEqual((code, err), (0, ''))
        return out

    def refusal(self, *arguments):
        code, out, err = self.call(*arguments)
        self.assertEqual((code, out), (2, ''))
        return err

    # --- validate and calibrate ---

    def test_measurements_are_named_by_kind(self):
        self.assertIn("'ncll' is not a kind of measurement; did you mean 'nccl'?",
                      self.refusal('validate', 'ncll', 'x.log'))
        self.assertIn('name the kind of measurement: host_copies, ', self.refusal('validate'))
        self.assertIn("'x.csv' is not a kind of measurement", self.refusal('calibrate', 'x.csv'))
        self.assertIn('name the files', self.refusal('calibrate', 'kernels'))
        self.assertIn('  primitive_times  tables of single primitives', self.answer('validate', '--help'))

    def test_traces_need_the_cluster_that_was_measured(self):
        code, _, err = self.call('validate', 'kineto')
        self.assertEqual(code, 3)
        self.assertRegex(err, r'error\[E264\]: `validate kineto` needs the traces of a job(?s:.*) the cluster that was measured')
        texts = [self.refusal('validate', 'nccl', *of) for of in (('--hosts', '2'), ('--group', '7=0,1'))]
        self.assertTrue('--hosts is for `validate kineto`' in texts[0] and '--group is for' in texts[1], texts)

    # --- search ---

    def test_search_ranks_layouts_and_writes_the_best(self):
        narrowed = ('search', SMALL, '--vary', 'tp=1,2', '--fix', 'parallel.pp=1', '--fix', 'recompute=full', '--fix', 'sharding=none')
        with tempfile.TemporaryDirectory() as folder:
            best, table = Path(folder) / 'best.yaml', Path(folder) / 'all.csv'
            out = self.answer(*narrowed, '--write', str(best), '--csv', str(table))
            self.assertIn('The best', out)
            self.assertIn("The scenario's own layout", out)
            rows = table.read_text(encoding='utf-8').splitlines()
            ranked = [row for row in rows[1:] if not row.startswith('does not fit')]
            result = json.loads(self.answer('run', str(best), '--json'))
        found = json.loads(self.answer(*narrowed, '--json'))
        self.assertEqual(found['schema'], 'ringwright.search/1')
        self.assertEqual(found['axes']['tp'], ['1', '2'])
        self.assertEqual(len(ranked), found['predicted'])
        in_picoseconds = [round(seconds * 1e12) for seconds in (result['metrics']['step_time_s']['mean'],
                                                                found['ranking'][0]['simulated']['step_time_s'])]
        self.assertEqual(*in_picoseconds)

    def test_search_says_what_it_cannot_vary(self):
        self.assertIn("'cluster.nodes' is not a key of the job", self.refusal('search', SMALL, '--vary', 'cluster.nodes=1,2'))
        self.assertIn("no axis 'tpp'; did you mean 'tp'?", self.refusal('search', SMALL, '--vary', 'tpp=1,2'))
        self.assertIn("cannot read --vary 'tp'", self.refusal('search', SMALL, '--vary', 'tp'))
        self.assertIn("did you mean 'full'?", self.refusal('search', SMALL, '--fix', 'recompute=fulll'))
        self.assertIn("'search.objective' is 'speed'", self.refusal('search', SMALL, '--objective', 'speed'))

    # --- run ---

    def test_a_preset_that_is_no_scenario_is_named_with_its_key(self):
        self.assertIn('cluster.node.preset: dgx-h100', self.refusal('run', 'dgx-h100'))
        self.assertIn('model.preset: llama3-8b', self.refusal('run', 'llama3-8b'))

    def test_run_prints_a_report(self):
        out = self.answer('run', SMALL)
        for part in ('Step time', 'MFU', 'Where one step goes', 'Busiest links', 'Evidence'):
            self.assertIn(part, out)

    def test_a_critical_path_adds_up_to_the_step(self):
        result = json.loads(self.answer('run', SMALL, '--json', '--no-out', '--critical-path'))
        path = result['critical_path']
        self.assertEqual(path['time_ps'], result['step_ps'])
        self.assertEqual(sum(kind['time_ps'] for kind in path['kinds']), path['time_ps'])
        at = 0
        for leg in path['legs']:
            self.assertEqual(leg['start_ps'], at)
            at = leg['end_ps']
        self.assertEqual((at, path['legs_left_out']), (path['time_ps'], 0))
        self.assertIn('Critical path of the step', self.answer('run', SMALL, '--no-out', '--critical-path'))
        self.assertNotIn('critical_path', json.loads(self.answer('run', SMALL, '--json', '--no-out')))
        self.assertIn('--critical-path needs the run', self.refusal('run', SMALL, '--critical-path', '--dry-run'))

    def test_explain_knows_goodput_files(self):
        for key in ('recovery.policy', 'components.NAME.mtbf', 'checkpoint.tiers.NAME.every', 'spares.standby',
                    'recovery.commit.commit_every'):
            self.assertIn('In a file of `ringwright goodput`', self.answer('explain', key))
        both = self.answer('explain', 'cost.usd_per_gpu_hour')  # a key of both kinds of files
        self.assertLess(both.index('US dollars'), both.index('In a file of `ringwright goodput`'))
        self.assertIn('recovery.policy', self.refusal('explain', 'recovery.polcy'))

    def test_a_published_step_is_a_side_of_compare(self):
        both = json.loads(self.answer('compare', 'published:megatron-22b-8-a100', 'megatron-22b-8-a100', '--json'))
        difference = both['differences'][0]
        self.assertEqual(sum(change['ps'] for change in difference['changes_ps']), difference['change_ps'])
        self.assertIn('has no published figure', self.refusal('compare', 'published:scale-1m-h100', SMALL))
        self.assertIn('is a measurement', self.refusal('compare', SMALL, 'published:megatron-22b-8-a100', '--set',
                                                       'parallel.tp=2'))

    def test_a_timeline_has_every_task_of_its_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            chrome, perfetto = Path(folder) / 'run.json', Path(folder) / 'run.pftrace'
            plain = json.loads(self.answer('run', SMALL, '--json', '--quiet'))
            for file in (chrome, perfetto):
                code, out, err = self.call('run', SMALL, '--json', '--no-out', '--timeline', str(file),
                                           '--trace-ranks', '0-1')
                self.assertEqual(code, 0)
                self.assertEqual(json.loads(out)['metrics'], plain['metrics'])
                self.assertRegex(err, r'timeline of 2 ranks, \d+ slices')
            events = json.loads(chrome.read_text(encoding='utf-8'))['traceEvents']
            slices = [e for e in events if e['ph'] == 'X']
            values = [e for e in events if e['ph'] == 'C']
            self.assertEqual({e['pid'] for e in slices}, {0, 1})
            self.assertEqual(len(slices), int(re.search(r'(\d+) slices', err)[1]))
            self.assertEqual(len(values), int(re.search(r'(\d+) values of counters', err)[1]))
            # Both ranks have device memory; all other counters are of links.
            memory = {e['pid'] for e in values if e['name'] == 'device memory'}
            counters = {(e['pid'], e['name']) for e in values}
            self.assertEqual(memory, {0, 1})
            self.assertEqual({pid for pid, name in counters if name != 'device memory'}, {2})
            # A packet for names, one for each process, thread and counter, for links, two for each slice, one for each
            # value.
            data, at, packets = perfetto.read_bytes(), 0, 0
            while at < len(data):
                self.assertEqual(data[at], 0x0A)
                length, shift, at = 0, 0, at + 1
                while True:
                    byte, at = data[at], at + 1
                    length, shift = length | (byte & 0x7F) << shift, shift + 7
                    if byte < 0x80:
                        break
                at, packets = at + length, packets + 1
            threads = {(e['pid'], e['tid']) for e in slices}
            self.assertEqual(packets, 1 + 2 + len(threads) + 1 + len(counters) + 2 * len(slices) + len(values))
        self.assertIn("'9-1' in --trace-ranks 9-1 is no rank or range",
                      self.refusal('run', SMALL, '--no-out', '--timeline', 'x.json', '--trace-ranks', '9-1'))
        self.assertIn('--trace-ranks and --trace-steps are for', self.refusal('run', SMALL, '--trace-ranks', '0'))
        self.assertIn('is no step or range of steps',
                      self.refusal('run', SMALL, '--no-out', '--timeline', 'x.json', '--trace-steps', '7'))

    def test_a_report_into_a_file_has_no_colours(self):
        self.assertNotIn('\x1b', self.answer('run', SMALL))

    def test_json_is_the_whole_of_stdout(self):
        result = json.loads(self.answer('run', SMALL, '--json'))
        self.assertEqual(result['schema'], 'ringwright.result/1')
        self.assertEqual(result['job']['gpus'], 8)
        self.assertAlmostEqual(sum(row['share'] for row in result['breakdown']), 1.0, places=9)

    def test_two_runs_differ_only_in_what_the_simulator_took(self):
        results = [json.loads(self.answer('run', SMALL, '--json')) for _ in range(2)]
        for result in results:
            del result['engine']['wall_s'], result['engine']['peak_rss_bytes']
        self.assertEqual(json.dumps(results[0]), json.dumps(results[1]))

    def test_folding_does_not_change_the_metrics(self):
        folded = json.loads(self.answer('run', SMALL, '--json'))
        unfolded = json.loads(self.answer('run', SMALL, '--json', '--no-fold'))
        self.assertEqual(json.dumps(folded['metrics']), json.dumps(unfolded['metrics']))
        self.assertEqual(json.dumps(folded['breakdown']), json.dumps(unfolded['breakdown']))
        self.assertEqual(unfolded['engine']['classes'], 8)

    def test_a_value_can_be_overridden(self):
        result = json.loads(self.answer('run', SMALL, '--json', '--set', 'training.global_batch=32', '--seed', '9'))
        self.assertEqual(result['job']['tokens_per_step'], 32 * 1024)
        self.assertEqual(result['config']['resolved']['training.global_batch']['origin'], '--set:1')
        self.assertEqual(result['seed'], 9)

    def test_quiet_prints_the_key_figures_only(self):
        out = self.answer('run', SMALL, '-q')
        self.assertIn('Step time', out)
        self.assertNotIn('Busiest links', out)

    def test_results_are_written_where_asked(self):
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / 'new' / 'results'
            code, _, err = self.call('run', SMALL, '--out', str(target))
            self.assertEqual((code, err), (0, f'results in {target}/: result.json, report.txt\n'))
            self.assertEqual(json.loads((target / 'result.json').read_text())['scenario'], SMALL)
            self.assertIn('Step time', (target / 'report.txt').read_text())

    def test_results_go_to_a_folder_of_the_scenario_when_nothing_is_asked(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([BINARY, 'run', SMALL], cwd=folder, capture_output=True, timeout=120, check=True)
            self.assertTrue((Path(folder) / 'out' / SMALL / 'result.json').exists())

    def test_a_layout_that_cannot_be_is_distinguished_from_a_slip(self):
        code, out, err = self.call('run', SMALL, '--set', 'parallel.tp=3')
        self.assertEqual((code, out), (4, ''))
        self.assertIn('error[E130]', err)

    def test_fast_forward_and_fairness_checks_change_nothing(self):
        plain = json.loads(self.answer('run', SMALL, '--json', '--set', 'simulate.steps=6'))
        whole = json.loads(self.answer('run', SMALL, '--json', '--set', 'simulate.steps=6', '--no-fast-forward',
                                       '--verify-fairness'))
        self.assertEqual(json.dumps(plain['metrics']), json.dumps(whole['metrics']))
        self.assertEqual(json.dumps(plain['breakdown']), json.dumps(whole['breakdown']))

    def test_a_folder_that_cannot_be_written_is_an_error(self):
        code, _, err = self.call('run', SMALL, '--out', '/dev/null/results')
        self.assertEqual(code, 2)
        self.assertIn("cannot write into '/dev/null/results'", err)

    def test_a_dry_run_shows_sizes_without_a_simulation(self):
        out = self.answer('run', SMALL, '--dry-run')
        self.assertIn('model         gpt2-1.5b, 1,5', out)
        self.assertNotIn('Step time', out)
        self.assertEqual(json.loads(self.answer('run', SMALL, '--dry-run', '--json'))['gpus'], 8)

    def test_every_value_can_be_traced_to_its_origin(self):
        out = self.answer('run', SMALL, '--dry-run', '--show-origin')
        self.assertRegex(out, r'training\.global_batch = 64 .*gpt2-1\.5b-dgx-a100\.yaml:5')
        self.assertRegex(out, r'default')

    def test_a_job_that_does_not_fit_is_reported_and_fails(self):
        code, out, err = self.call('run', SMALL, '--no-out', '--set', 'cluster.node.gpu.memory=16GiB')
        self.assertEqual(code, 4)
        self.assertIn('of 16 GiB (stage 0', out)
        self.assertRegex(err, r'^error: 1 of 1 stages need more memory than their GPUs have: stage 0 needs 39 GiB, '
                              r'capacity 16 GiB; most of it is optimizer 17\.41 GiB, .* GiB, .* GiB\n  remedies: parallel\.zero\.stage: 1 or more, .*\n$')

    # --- collective ---

    def test_collective_prints_the_table_of_nccl_tests(self):
        out = self.answer('collective', 'dgx-a100', 'all_reduce_perf', '-b', '1M', '-e', '4M', '-f', '2')
        rows = [line.split() for line in out.splitlines() if not line.startswith('#')]
        self.assertEqual([row[:2] for row in rows], [['1048576', '262144'], ['2097152', '524288'], ['4194304', '1048576']])
        for row in rows:
            self.assertAlmostEqual(float(row[7]) / float(row[6]), 2 * 7 / 8, places=2)  # busbw / algbw of 8 ranks

    def test_collective_takes_nodes_gpus_and_types(self):
        result = json.loads(self.answer('collective', 'dgx-h100', 'all_gather', '--nodes', '2', '-g', '4', '-d', 'half',
                                        '-b', '64K', '-e', '64K', '--json'))
        self.assertEqual((result['ranks'], result['results'][0]['count']), (8, 64 * 1024 // 2 // 8))

    def test_collective_refuses_what_it_does_not_know(self):
        self.assertIn("did you mean 'all_reduce'?", self.refusal('collective', 'dgx-h100', 'allreduc'))
        self.assertIn("did you mean 'dgx-h100'?", self.refusal('collective', 'dgx-h10'))
        self.assertIn('first: `ringwright collective dgx-h100 all_reduce`', self.refusal('collective', 'all_reduce'))
        for words, says in {'-g 9': 'ngpus is 9', '-b x': 'minbytes', '-g 1': 'two ranks', '-p 3': 'process is 3', '-i 8 -f 3': 'keep one'}.items():
            self.assertIn(says, self.refusal('collective', 'dgx-h100', *words.split()))

    def test_values_of_classes_are_for_collectives(self):
        self.assertIn('--classes is for', self.refusal('validate', 'mpi', '--classes', 'none'))
        self.assertIn('are for `calibrate nccl`', self.refusal('calibrate', 'kernels', 'x.csv', '--only', 'network'))
        self.assertIn("--only is 'nics'", self.refusal('calibrate', 'nccl', 'x.csv', '--only', 'nics'))

    def test_a_launch_script_is_no_scenario(self):
        script = str(Path(__file__).resolve().parents[1] / 'configs' / 'megatron-run.sh')
        self.assertIn("'megatron: megatron-run.sh'", self.refusal('run', script))

    def test_collective_says_what_has_no_effect(self):
        words = ('collective', 'dgx-h100', '-b', '8', '-e', '8', '-p', '8')
        self.assertIn('--gpus-per-process has no effect', self.call(*words, '--set', 'collectives.model=steps')[2])
        self.assertEqual('', self.call(*words)[2])

    # --- mistakes ---

    def test_every_code_that_is_raised_has_a_page(self):
        root = Path(__file__).resolve().parents[2]
        codes = set()
        for folder in ('collectives', 'configs', 'core', 'network_models', 'tools', 'traces', 'validation', 'workload'):
            for source in (root / folder).rglob('*.cc'):
                codes |= set(re.findall(r'"([EW]\d{3})"', source.read_text(encoding='utf-8')))
        self.assertGreater(len(codes), 25)
        for code in sorted(codes):
            self.assertIn(code, self.answer('explain', code))

    def test_a_wrong_override_names_its_place(self):
        self.assertIn('--set:1', self.refusal('run', SMALL, '--set', 'parallel.tp=x'))
        self.assertIn('did you mean', self.refusal('run', SMALL, '--set', 'parallel.tpp=2'))

    def test_all_mistakes_of_a_file_come_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / 'bad.yaml'
            path.write_text('version: 1\nmodel: { preset: llama3-8b }\ntraning: { global_batch: 8 }\nparallel: { tp: x }\n')
            err = self.refusal('run', str(path))
            self.assertRegex(err, r"bad\.yaml:3:1: error.*'traning'; did you mean 'training'")
            self.assertRegex(err, r'bad\.yaml:4:17: error.*parallel\.tp')

    def test_an_unknown_preset_is_reported_with_the_nearest(self):
        self.assertIn("'llama3-8b'", self.refusal('run', SMALL, '--set', 'model.preset=llama3-9b'))

    def test_a_missing_file_is_an_error(self):
        self.assertIn("'nothing.yaml'", self.refusal('run', 'nothing.yaml'))

    def test_an_unknown_scenario_is_reported_with_the_nearest(self):
        self.assertIn(f"did you mean '{SMALL}'?", self.refusal('run', 'gpt2-1.5b-dgx-a10'))

    def test_an_unknown_command_or_option_is_reported_with_the_nearest(self):
        self.assertIn("did you mean 'run'?", self.refusal('rum', SMALL))
        self.assertIn("did you mean '--dry-run'?", self.refusal('run', SMALL, '--dryrun'))

    def test_without_arguments_it_says_how_to_use_it(self):
        self.assertIn('usage: ringwright', self.refusal())

    # --- the other commands ---

    def test_list_names_every_kind(self):
        out = self.answer('list')
        for part in ('llama3.1-405b', 'dgx-h100', 'rail_optimized', 'double_tree', SMALL):
            self.assertIn(part, out)
        self.assertNotIn('dgx-h100', self.answer('list', 'models'))
        self.assertIn("did you mean 'models'?", self.refusal('list', 'model'))

    def test_list_speaks_json(self):
        names = [entry['name'] for entry in json.loads(self.answer('list', 'gpus', '--json'))['gpus']]
        self.assertIn('h100-sxm5-80gb', names)

    def test_explain_knows_keys_and_codes(self):
        self.assertIn('parallel.tp', self.answer('explain', 'parallel.tp'))
        self.assertIn('unit', self.answer('explain', 'e110'))
        for word in ('paralel.tp', 'tp_size'):
            self.assertIn('parallel.tp', self.refusal('explain', word))

    def test_the_schema_is_json(self):
        self.assertIn('parallel', json.loads(self.answer('schema'))['properties'])

    def test_topo_shows_parts_ways_and_bisection(self):
        out = self.answer('topo', SMALL, '--path', '0,3', '--bisection', '--check')
        for part in ('Devices', 'Path from rank 0 to rank 3', 'Bisection', 'Every GPU reaches every other'):
            self.assertIn(part, out)
        result = json.loads(self.answer('topo', SMALL, '--json', '--path', '0,3', '--check', '--bisection'))
        self.assertEqual(result['unreachable_pairs'], 0)

    def test_topo_draws(self):
        self.assertIn('graph', self.answer('topo', 'rail-only-h100', '--set', 'cluster.nodes=2', '--dot', '-'))
        with tempfile.TemporaryDirectory() as folder:
            self.answer('topo', SMALL, '--dot', f'{folder}/fabric.dot')
            self.assertIn('graph', Path(folder, 'fabric.dot').read_text())

    def test_topo_refuses_ranks_that_are_not_there(self):
        for path in ('0,8', '3,3', '0', 'a,b', '0,1,2', '-1,2'):
            with self.subTest(path):
                self.assertIn(path, self.refusal('topo', SMALL, f'--path={path}'))

    def test_completions_are_scripts_that_complete(self):
        script = self.answer('completion', 'bash')
        ask = ('export PATH=%s:$PATH; eval "$(ringwright completion bash)"; COMP_WORDS=(ringwright %s); COMP_CWORD=%d; '
               '_ringwright; printf "%%s\\n" "${COMPREPLY[@]}"')
        def completed(*words):
            done = subprocess.run(['bash', '-c', ask % (os.path.dirname(BINARY), ' '.join(words) + ' ""' * (words[-1] == ''), len(words))],
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.stderr, '')
            return done.stdout.split()
        self.assertEqual(completed('sens'), ['sensitivity'])
        self.assertIn('--html', completed('sweep', '--h'))
        self.assertIn(SMALL, completed('run', 'gpt2'))
        self.assertEqual(completed('completion', 'z'), ['zsh'])
        self.assertIn('compinit', self.answer('completion', 'zsh'))
        self.assertIn("-l html", self.answer('completion', 'fish'))
        self.assertIn('_ringwright', script)
        self.assertIn('name the shell', self.refusal('completion'))
        self.assertIn('name the shell', self.refusal('completion', 'tcsh'))

    def test_the_manual_has_every_command_and_option(self):
        page = self.answer('man')
        for command in re.findall(r'^  ([a-z][a-z-]+) ', self.answer('--help'), re.M):
            if command in ('completion', 'man'):
                continue
            self.assertIn('.SS "ringwright ' + command.replace('-', '\\-') + '"', page)
        self.assertIn('\\fB\\-\\-set\\fR', page)
        if shutil.which('groff'):
            done = subprocess.run(['groff', '-man', '-ww', '-Tascii'], input=page, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.stderr, '')

    def test_list_quietly_prints_names_alone(self):
        names = self.answer('list', 'gpus', '-q').split('\n')
        self.assertIn('h100-sxm5-80gb', names)

    def test_version_and_help_are_answers(self):
        self.assertRegex(self.answer('version'), r'^ringwright \d+\.\d+\.\d+ ')
        self.assertEqual(self.answer('--version'), self.answer('version'))
        self.assertIn('--set', self.answer('run', '--help'))
        self.assertIn('Exit codes', self.answer('--help'))


if __name__ == '__main__':
    unittest.main()
