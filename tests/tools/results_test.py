#!/usr/bin/env python3
"""What the program promises about results: written whole, reproducible, never of nothing. Usage: results_test.py BINARY"""

import hashlib
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import cli_test
from cli_test import BINARY, SMALL


class ResultsTest(unittest.TestCase):
    call = cli_test.CliTest.call
    answer = cli_test.CliTest.answer

    def test_variants_of_a_scenario_keep_apart(self):
        with tempfile.TemporaryDirectory() as folder:
            for steps in ('1', '2'):
                subprocess.run([BINARY, 'run', SMALL, '--set', f'simulate.steps={steps}'], cwd=folder, capture_output=True,
                               timeout=120, check=True)
            results = sorted((Path(folder) / 'out').iterdir())
            self.assertEqual(len(results), 2)
            for result in results:
                sha = json.loads((result / 'result.json').read_text())['config']['sha256']
                self.assertEqual(result.name, f'{SMALL}-{sha[:8]}')

    def test_results_of_another_configuration_are_replaced_with_a_note(self):
        with tempfile.TemporaryDirectory() as folder:
            self.call('run', SMALL, '--out', folder)
            code, _, err = self.call('run', SMALL, '--out', folder, '--seed', '2')
            self.assertEqual(code, 0)
            self.assertIn('instead of those of configuration ', err)

    def test_a_result_that_cannot_be_written_leaves_the_former_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            self.call('run', SMALL, '--out', folder)
            before = (Path(folder) / 'result.json').read_bytes()
            # 4 KiB of a file at most: less than a result has, as on a disk that is full.
            limited = subprocess.run(['bash', '-c', 'trap "" XFSZ; ulimit -f 4; exec "$0" "$@"', BINARY, 'run', SMALL, '--seed',
                                      '2', '--out', folder], capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(limited.returncode, 2)
            self.assertIn('cannot write into', limited.stderr)
            self.assertEqual((Path(folder) / 'result.json').read_bytes(), before)
            self.assertEqual(sorted(path.name for path in Path(folder).iterdir()), ['report.txt', 'result.json'])

    def test_times_of_collectives_are_retained_for_later_runs_without_effect_on_results(self):
        with tempfile.TemporaryDirectory() as folder:
            cache = Path(folder) / 'cache'

            def searched(where):
                done = subprocess.run([BINARY, 'search', 'llama3-70b-search-64-h100', '--fix', 'tp=8', '--fix', 'pp=4', '--json'],
                                      env=os.environ | {'RINGWRIGHT_CACHE': where}, capture_output=True, timeout=300, check=True)
                return done.stdout

            first = searched(str(cache))
            (file,) = cache.iterdir()
            found = file.read_bytes()
            self.assertGreater(len(found.splitlines()), 5)
            self.assertEqual(searched(str(cache)), first)
            self.assertEqual(file.read_bytes(), found)
            self.assertEqual(searched('off'), first)

    def test_what_ifs_and_sensitivities_use_retained_times(self):
        with tempfile.TemporaryDirectory() as folder:
            cache = Path(folder) / 'cache'
            scenario = Path(folder) / 'job.yaml'
            scenario.write_text('model: {num_layers: 2, hidden_size: 1024, num_attention_heads: 16, vocab_size: 32000, '
                                'seq_length: 128}\ntraining: {global_batch: 32}\nparallel: {dp: auto}\n'
                                'cluster: {nodes: 4, node: {preset: dgx-h100}, fabric: {type: rail_optimized}}\n'
                                'what_if: [{name: twice the batch, set: {training.global_batch: 64}}]\n')

            def output(command, where):
                done = subprocess.run([BINARY, command, str(scenario), '--json', '-q'],
                                      env=os.environ | {'RINGWRIGHT_CACHE': where}, capture_output=True, timeout=300, check=True)
                return done.stdout

            for command in ('what-if', 'sensitivity'):
                first = output(command, str(cache))
                (file,) = cache.iterdir()
                found = file.read_bytes()
                self.assertGreater(len(found.splitlines()), 0, command)
                self.assertEqual(output(command, str(cache)), first)
                self.assertEqual(file.read_bytes(), found, 'all of them were found there')

    def test_options_of_validate_without_effect_are_refused(self):
        for arguments, said in ((('validate', 'memory', '--set', 'a=1'), '--set has no effect'),
                                (('validate', 'kernels', '--profile', 'none'), '--profile is for `validate nccl`'),
                                (('calibrate', 'host_copies', 'x.csv', '--set', 'a=1'), '--set has no effect')):
            code, _, err = self.call(*arguments)
            self.assertEqual(code, 2, arguments)
            self.assertIn(said, err)

    def test_a_simulated_log_has_its_machine_and_takes_classes(self):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / 'all_reduce.log'
            log.write_text(self.answer('collective', 'dgx-h100', '-b', '1M', '-e', '1M'))
            code, _, err = self.call('validate', 'nccl', str(log), '--node', 'dgx-a100')
            self.assertEqual(code, 3)
            self.assertIn("was simulated on 'dgx-h100', which --node dgx-a100 contradicts", err)
            code, _, err = self.call('validate', 'nccl', str(log), '--classes', f'{folder}/none')
            self.assertEqual(code, 3)
            self.assertIn('no folder with the constants of classes', err)

    def test_the_folder_of_execution_traces_is_made(self):
        with tempfile.TemporaryDirectory() as folder:
            code, _, err = self.call('run', SMALL, '--no-out', '--chakra', f'{folder}/traces/of/step')
            self.assertEqual(code, 0, err)
            written = sorted(path.name for path in (Path(folder) / 'traces' / 'of').iterdir())
            self.assertEqual(written, sorted([f'step.{rank}.et' for rank in range(8)] + ['step.groups.json']))

    def test_traces_of_another_step_next_to_the_written_ones_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            for left, says in (('step.8.et', 'traces up to rank 8'), ('step.0.json', 'rank 0 has two traces'),
                               ('step.ranks.json', 'which states the ranks of files')):
                (Path(folder) / left).write_text('{}')
                err = self.call('run', SMALL, '--no-out', '--chakra', f'{folder}/step')[2]
                self.assertIn('warning[W625]: files of another step are next to the 8 ranks of this one', err)
                self.assertIn(says, err)
                (Path(folder) / left).unlink()
            self.assertNotIn('W625', self.call('run', SMALL, '--no-out', '--chakra', f'{folder}/step')[2])

    def test_ranks_of_a_timeline_that_the_job_lacks_have_an_example_that_it_has(self):
        code, _, err = self.call('run', SMALL, '--no-out', '--timeline', '/dev/null', '--trace-ranks', '0,8-15')
        self.assertEqual(code, 2)
        self.assertIn('from 0 to 7', err)
        self.assertIn('--trace-ranks 0,2-7', err)

    def test_pages_of_equal_results_are_equal(self):
        with tempfile.TemporaryDirectory() as folder:
            self.call('run', SMALL, '--out', folder, '--html', f'{folder}/run.html')
            for name in ('first', 'second'):
                code, _, err = self.call('report', folder, '-o', f'{folder}/{name}.html')
                self.assertEqual((code, err), (0, f'report in {folder}/{name}.html\n'))
            pages = [(Path(folder) / f'{name}.html').read_bytes() for name in ('first', 'second', 'run')]
            self.assertEqual(pages[0], pages[1])
            self.assertIn(b'record', pages[0])  # of the command that records tasks, which result.json does not hold
            self.assertIn(b'F0 forward', pages[2])

    def test_a_result_names_its_command_without_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / 'mine.yaml'
            path.write_text('version: 1\nname: mine\nmodel: {preset: gpt2-1.5b, seq_length: 1024}\nparallel: {dp: auto}\n'
                            'training: {global_batch: 64, micro_batch: 4}\n'
                            'cluster: {nodes: 1, node: {preset: dgx-a100}, fabric: {type: single_node}}\n')
            out = self.answer('run', str(path), '--json', '--set', 'simulate.steps=2', '--seed', '3')
            self.assertEqual(json.loads(out)['command'], ['ringwright', 'run', 'mine.yaml', '--set', 'simulate.steps=2', '--seed', '3'])

    def test_a_report_names_the_mistakes_of_all_files(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / 'a.json').write_text('{"schema": "ringwright.result/1"')
            (Path(folder) / 'b.json').write_text('{"schema": "ringwright.result/1"}')
            code, out, err = self.call('report', f'{folder}/a.json', f'{folder}/b.json', f'{folder}/c.json', '-o', f'{folder}/x')
            self.assertEqual((code, out), (3, ''))
            for mistake in ('a.json:1:', 'E340', 'b.json: error[E343]: scenario is missing', 'c.json: error[E340]'):
                self.assertIn(mistake, err)
            self.assertFalse((Path(folder) / 'x').exists())
            self.assertIn('a result is no JSON', self.call('explain', 'E340')[1])

    def test_output_that_is_lost_is_an_error(self):
        for arguments in (['run', SMALL, '--no-out'], ['list'], ['version'], ['--help'], ['topo', SMALL],
                          ['collective', 'dgx-h100', '-b', '8', '-e', '8'], ['schema']):
            with open('/dev/full', 'w', encoding='utf-8') as full:
                done = subprocess.run([BINARY, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120,
                                      check=False)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn('cannot write to standard output', done.stderr, arguments)

    def test_a_name_cannot_lead_out_of_the_folder_of_results(self):
        for name in ('../../x', 'a/b', '"a\\nb"', '.hidden', '""'):
            code, _, err = self.call('run', SMALL, '--set', f'name={name}')
            self.assertEqual(code, 2, name)
            self.assertIn('error[E118]', err)

    def test_a_megatron_file_leaves_no_path_in_the_result(self):
        script = Path(__file__).parent.parent / 'configs' / 'megatron-run.sh'
        with tempfile.TemporaryDirectory() as folder:
            scenario = Path(folder) / 'two.yaml'
            scenario.write_text('cluster: {nodes: 2, node: {preset: dgx-h100}}\n')
            copy = Path(folder) / 'copy.sh'
            copy.write_bytes(script.read_bytes())
            results = [json.loads(self.answer('run', str(scenario), '--megatron', str(path), '--json'))['config']
                       for path in (script, copy)]
        self.assertEqual(results[0]['sha256'], results[1]['sha256'])
        content = hashlib.sha256(script.read_bytes()).hexdigest()
        self.assertEqual(results[0]['resolved']['megatron']['value'], f'megatron-run.sh (sha256 {content[:8]})')
        self.assertNotIn(str(script.parent), json.dumps(results[0]))

    def test_the_best_is_written_whatever_the_name_holds(self):
        with tempfile.TemporaryDirectory() as folder:
            best = Path(folder) / 'best.yaml'
            self.answer('search', SMALL, '--fix', 'tp=1', '--fix', 'parallel.pp=1', '--fix', 'recompute=full', '--fix',
                        'sharding=none', '--fix', 'name="a: b # c"', '--write', str(best))
            self.assertEqual(json.loads(self.answer('run', str(best), '--json'))['scenario'], 'a: b # c-best')

    def test_a_comparison_of_nothing_is_an_error(self):
        head = 'id,model,layers,hidden,heads,vocab,seq,gpu,n_gpus,tp,pp,gbs,framework,step_time_s\n'
        model = 'a-1,gpt3-175b,96,12288,96,51200,2048,'
        for row, why in (('', 'there is no row to compare'),
                         (model + 'Z100,8,8,1,8,Megatron-LM,2.5', "2:38: error[W165]: row 'a-1' is not compared: there is no preset"),
                         (model + 'A100,8,8,1,8,Megatron-LM,nan', "holds 'nan'"),
                         (model + 'A100,8,3,1,8,Megatron-LM,2.5', '2:45: error[W165]'),
                         (model + 'A100,8,8,1,8,Megatron-LM,', 'neither a time nor a rate')):
            with tempfile.TemporaryDirectory() as folder:
                table = Path(folder) / 'runs.csv'
                table.write_text(head + row + '\n')
                code, out, err = self.call('validate', 'training', str(table))
            self.assertEqual((code, out), (3, ''), row)
            self.assertIn(why, err)

    def test_words_of_a_measured_run_that_are_not_known_are_reported(self):
        head = 'id,model,layers,hidden,heads,vocab,seq,gpu,n_gpus,tp,pp,gbs,framework,step_time_s,recompute\n'
        row = 'a-{},gpt3-175b,8,1024,8,51200,1024,A100,8,8,1,8,Megatron-LM,2.5,{}\n'
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / 'runs.csv'
            table.write_text(head + row.format(1, 'partially') + row.format(2, 'partially') + row.format(3, 'full'))
            code, _, err = self.call('validate', 'training', str(table))
        self.assertEqual(code, 0, err)
        self.assertIn("2:64: warning[W169]: the words 'partially' in column 'recompute' are not known", err)
        self.assertEqual(err.count('W169'), 1, 'once for a wording')

    def test_no_profile_is_written_of_times_in_another_unit(self):
        shipped = Path(__file__).parent.parent.parent / 'validation' / 'kernels' / 'a100-pcie-80gb.mamf.csv'
        lines = shipped.read_text(encoding='utf-8').splitlines()
        names = next(line for line in lines if not line.startswith('#')).split(',')
        column = names.index('time_us')
        with tempfile.TemporaryDirectory() as folder:
            table, profile = Path(folder) / 'ms.csv', Path(folder) / 'profile.yaml'
            text = []
            for line in lines:
                cells = line.split(',')
                if not line.startswith('#') and cells != names:
                    cells[column] = str(max(float(cells[column]) / 1000, 0.001))
                text.append(','.join(cells))
            table.write_text('\n'.join(text) + '\n')
            code, out, err = self.call('calibrate', 'kernels', str(table), '-o', str(profile))
            self.assertEqual((code, out, profile.exists()), (3, '', False))
            self.assertIn('these seem to be milliseconds', err)

    def test_the_columns_of_training_tables_are_listed(self):
        out = self.answer('validate', '--help')
        self.assertIn('step_time_s      measured: seconds of a training step', out)
        self.assertIn('n_gpus           GPUs of the job (required)', out)

    def test_the_output_of_collective_is_played_again_as_it_was(self):
        with tempfile.TemporaryDirectory() as folder:
            for form in ([], ['--json']):
                played = Path(folder) / 'own.txt'
                played.write_text(self.answer('collective', 'dgx-h100', 'all_gather', '-N', '2', '-g', '4', '-b', '1M', '-e', '4M',
                                              '--set', 'simulate.network=flow', *form))
                result = json.loads(self.answer('validate', 'nccl', str(played), '--json'))
                for row in result['logs'][0]['rows']:
                    self.assertAlmostEqual(row['simulated_us'] / row['measured_us'], 1.0, places=3)  # text has 0.01 us

    def test_a_collective_that_a_log_does_not_tell_can_be_said(self):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / 'x.log'
            log.write_text('#       size   count   type   redop   root   time   algbw   busbw\n'
                           '     1048576  262144  float    none    -1   50.0   21.0   18.4\n# Avg bus bandwidth : 18.4\n')
            self.assertIn('pass --collective', self.call('validate', 'nccl', str(log), '--cluster', 'dgx-h100')[2])
            out = self.call('validate', 'nccl', str(log), '--cluster', 'dgx-h100', '--collective', 'all_gather')[1]
            self.assertIn('all_gather', out)


if __name__ == '__main__':
    unittest.main()
