#!/usr/bin/env python3
"""An installed tree works wherever it lies, a project outside the tree finds the library, and the packages install.

Usage: install_test.py BUILD_FOLDER
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).absolute() if len(sys.argv) > 1 else Path()
HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent.parent
SCENARIO = 'gpt2-1.5b-dgx-a100'  # runs in milliseconds


def call(*command, folder, **environment):
    keep = {name: value for name, value in os.environ.items() if name != 'RINGWRIGHT_SHARE'}
    return subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=600,
                          env={**keep, **environment}, check=True).stdout


def step_time(text):
    return json.loads(text)['metrics']['step_time_s']['mean']


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = Path(cls.folder.name)
        call('cmake', '--install', BUILD, '--prefix', cls.root / 'first', folder=cls.root)
        # Moved after it was installed: nothing in it may depend on where it was.
        (cls.root / 'first').rename(cls.root / 'moved')
        cls.prefix = cls.root / 'moved'
        cls.expected = step_time(call(BUILD / 'ringwright', 'run', SCENARIO, '--json', '--no-out', folder=cls.root))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_the_program_finds_its_files_where_it_was_moved_to(self):
        program = self.prefix / 'bin/ringwright'
        self.assertEqual(step_time(call(program, 'run', SCENARIO, '--json', '--no-out', folder=self.root)), self.expected)
        self.assertIn('h100-sxm5-80gb', call(program, 'list', 'gpus', '-q', folder=self.root))
        # The measurements are there as well.
        self.assertIn('a100', call(program, 'validate', 'kernels', folder=self.root))

    def test_the_binary_names_no_path_of_the_sources(self):
        self.assertNotIn(str(SOURCES).encode(), (self.prefix / 'bin/ringwright').read_bytes())

    def test_manual_and_completions_are_installed(self):
        self.assertTrue((self.prefix / 'share/man/man1/ringwright.1').read_text(encoding='utf-8').startswith('.TH RINGWRIGHT'))
        for name in ('bash-completion/completions/ringwright', 'zsh/site-functions/_ringwright',
                     'fish/vendor_completions.d/ringwright.fish'):
            self.assertIn('complete', (self.prefix / 'share' / name).read_text(encoding='utf-8'))

    def test_a_project_outside_the_tree_links_the_library(self):
        build = self.root / 'consumer'
        call('cmake', '-G', 'Ninja', '-S', HERE / 'consumer', '-B', build, '-DCMAKE_BUILD_TYPE=Release',
             f'-DCMAKE_PREFIX_PATH={self.prefix}', folder=self.root)
        call('cmake', '--build', build, folder=self.root)
        shared = self.prefix / 'share/ringwright'
        self.assertEqual(step_time(call(build / 'consumer', SCENARIO, folder=self.root, RINGWRIGHT_SHARE=str(shared))), self.expected)

    @unittest.skipUnless(shutil.which('dpkg-shlibdeps') and shutil.which('dpkg-deb'), 'needs dpkg-dev')
    def test_the_package_has_its_dependencies_and_runs(self):
        call('cpack', '--config', BUILD / 'CPackConfig.cmake', '-B', self.root / 'packages', folder=self.root)
        packages = {path.name.split('_')[0]: path for path in (self.root / 'packages').glob('*.deb')}
        self.assertEqual(sorted(packages), ['ringwright', 'ringwright-dev'])
        fields = call('dpkg-deb', '-f', packages['ringwright'], 'Depends', folder=self.root)
        for library in ('libc6', 'libfmt', 'libsqlite3', 'libyaml-cpp'):
            self.assertIn(library, fields)
        self.assertTrue(re.search(r'ringwright \(= ', call('dpkg-deb', '-f', packages['ringwright-dev'], 'Depends', folder=self.root)))
        call('dpkg-deb', '-x', packages['ringwright'], self.root / 'system', folder=self.root)
        program = self.root / 'system/usr/bin/ringwright'
        self.assertEqual(step_time(call(program, 'run', SCENARIO, '--json', '--no-out', folder=self.root)), self.expected)


if __name__ == '__main__':
    unittest.main()
