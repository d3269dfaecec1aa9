#!/usr/bin/env python3
"""Pages of docs: no validation has a bound that does not hold, every page is in the index, every link leads somewhere."""

import re
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
DOCS = TOP / 'docs'
LINK = re.compile(r'\]\(([^()\s]+)\)')


# The anchors that GitHub gives to the headings of a page.
def anchors(page):
    text = re.sub(r'^```.*?^```', '', page.read_text(encoding='utf-8'), flags=re.M | re.S)
    headings = (re.sub(r'[^\w\- ]', '', line.lstrip('#').strip().lower()).replace(' ', '-')
                for line in text.split('\n') if line.startswith('#'))
    return set(headings)


def links_of(page):
    text = re.sub(r'^```.*?^```', '', page.read_text(encoding='utf-8'), flags=re.M | re.S)
    return [link for link in LINK.findall(text) if '://' not in link]


class PagesTest(unittest.TestCase):
    def test_every_bound_of_a_validation_holds(self):
        pages = sorted(DOCS.glob('validation-*.md'))
        self.assertGreater(len(pages), 4)
        for page in pages:
            failed = [line for line in page.read_text(encoding='utf-8').split('\n') if '| FAILED |' in line]
            self.assertEqual(failed, [], page.name)

    def test_every_page_is_in_the_index(self):
        indexed = {link.split('#')[0] for link in links_of(DOCS / 'README.md')}
        pages = {page.name for page in DOCS.glob('*.md')} - {'README.md'}
        self.assertEqual(pages - indexed, set())

    def test_every_link_leads_to_a_file_and_a_heading(self):
        broken = []
        for page in [TOP / 'README.md', TOP / 'ARCHITECTURE.md', *DOCS.glob('*.md')]:
            for link in links_of(page):
                file, _, anchor = link.partition('#')
                target = (page.parent / file).resolve() if file else page
                if not target.exists() or (anchor and anchor not in anchors(target)):
                    broken.append(f'{page.name}: {link}')
        self.assertEqual(broken, [])


if __name__ == '__main__':
    unittest.main()
