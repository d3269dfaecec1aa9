#!/usr/bin/env python3
"""Files that a user hands over as a scenario: built on a shipped one, or of another tool. Usage: scenario_files_test.py BINARY"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARY = str(Path(sys.argv.pop(1)).absolute()) if len(sys.argv) > 1 else ''
SMALL = 'gpt2-1.5b-dgx-a100'  # runs in milliseconds


class ScenarioFilesTest(unittest.TestCase):
    def run_file(self, name, text, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_text(text, encoding='utf-8')
            return self.run_scenario(str(path), *arguments)

    def run_scenario(self, *arguments):
        done = subprocess.run([BINARY, 'run', *arguments, '--no-out'], capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_a_scenario_builds_on_a_shipped_one(self):
        code, own, problems = self.run_file('mine.yaml', f'extends: {SMALL}\ntraining: {{ micro_batch: 2 }}\n', '--json')
        self.assertEqual((code, problems), (0, ''))
        _, same, _ = self.run_scenario(SMALL, '--set', 'training.micro_batch=2', '--json')
        self.assertEqual(json.loads(own)['metrics'], json.loads(same)['metrics'])

    def test_a_base_that_is_not_there_is_named_with_the_nearest(self):
        code, _, problems = self.run_file('mine.yaml', 'extends: gpt2-1.5b-dgx-a10\n')
        self.assertEqual(code, 2)
        self.assertIn(f"did you mean '{SMALL}'?", problems)

    def test_a_file_of_torchtitan_is_no_scenario(self):
        code, _, problems = self.run_file('llama3_8b.toml', '[model]\nname = "llama3"\n')
        self.assertEqual(code, 2)
        self.assertIn("llama3_8b.toml' is TOML, but a scenario is YAML", problems)

    def test_a_recording_is_no_scenario(self):
        code, _, problems = self.run_file('rank0.json', '{"schemaVersion": 1, "traceEvents": []}')
        self.assertEqual(code, 2)
        self.assertIn("(trace of PyTorch's profiler), but a scenario is YAML", problems)
        self.assertIn("'workload: {kineto: [FILE]}' replays it", problems)
        code, _, problems = self.run_file('step.goal', 'num_ranks 1\nrank 0 {\nl1: calc 5 cpu 0\n}\n')
        self.assertEqual(code, 2)
        self.assertIn("'workload: {goal: FILE}' replays it", problems)


if __name__ == '__main__':
    unittest.main()
