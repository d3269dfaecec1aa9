#!/usr/bin/env python3
"""Output that cannot be written: results that are lost are an error with its reason. Usage: output_test.py BINARY"""

import os
import subprocess
import sys
import unittest

BINARY = sys.argv.pop(1) if len(sys.argv) > 1 else ''


@unittest.skipUnless(os.path.exists('/dev/full'), 'needs /dev/full')
class OutputTest(unittest.TestCase):
    def into_full_disk(self, *arguments):
        with open('/dev/full', 'w', encoding='utf-8') as full:
            return subprocess.run([BINARY, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    # `list` and `schema` print more than a buffer holds: a write fails before the end.
    def test_has_the_reason_once(self):
        for arguments in (['version'], ['list'], ['schema'], ['explain', 'parallel.tp'], ['--help']):
            done = self.into_full_disk(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertEqual(done.stderr, 'error: cannot write to standard output: No space left on device\n', arguments)


if __name__ == '__main__':
    unittest.main()
