#!/usr/bin/env python3
"""The program that ./run builds first, compared with the whole one. Usage: steps_program_test.py STEPS WHOLE RUN_SCRIPT"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

STEPS, WHOLE, RUN_SCRIPT = [Path(argument).absolute() for argument in sys.argv[1:4]]


def call(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def commands_of(program):
    names = re.findall(r'^  (\S+) ', call(program, '--help')[1], re.MULTILINE)
    return set(names) - {'completion', 'man'}


class StepsProgramTest(unittest.TestCase):
    def test_the_script_sends_it_exactly_its_own_commands(self):
        listed = re.search(r'^  (run \|.*)\)$', RUN_SCRIPT.read_text(encoding='utf-8'), re.MULTILINE).group(1)
        self.assertEqual(set(listed.split(' | ')) - {'--version'}, commands_of(STEPS))

    def test_its_commands_are_those_of_the_whole_program(self):
        self.assertLess(commands_of(STEPS), commands_of(WHOLE))
        for arguments in (('run', 'gpt2-1.5b-dgx-a100', '--no-out'), ('collective', 'dgx-a100', '-b', '1M', '-e', '1M'),
                          ('version',), ('run', '--help')):
            self.assertEqual(call(STEPS, *arguments), call(WHOLE, *arguments))

    def test_a_study_is_pointed_at_the_whole_program(self):
        code, out, err = call(STEPS, 'search', 'gpt2-1.5b-dgx-a100')
        self.assertEqual((code, out), (2, ''))
        self.assertIn("unknown command 'search'", err)
        self.assertIn('the program `ringwright`, which `./run COMMAND` builds, has all commands', err)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
