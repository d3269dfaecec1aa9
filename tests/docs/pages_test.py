#!/usr/bin/env python3
"""Pages of validation are written with the errors that they found; none is committed with a bound that does not hold."""

import unittest
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent.parent / 'docs'


class PagesTest(unittest.TestCase):
    def test_every_bound_of_a_validation_holds(self):
        pages = sorted(DOCS.glob('validation-*.md'))
        self.assertGreater(len(pages), 4)
        for page in pages:
            failed = [line for line in page.read_text(encoding='utf-8').split('\n') if '| FAILED |' in line]
            self.assertEqual(failed, [], page.name)


if __name__ == '__main__':
    unittest.main()
