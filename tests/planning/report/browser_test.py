#!/usr/bin/env python3
"""The report's page in headless Chromium: every panel drawn, no problem on the console. Usage: browser_test.py BINARY

Skipped (exit code 77) where no Chromium is installed.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

BINARY = str(Path(sys.argv.pop(1)).absolute()) if len(sys.argv) > 1 else ''
BROWSER = next((path for name in ('chromium', 'chromium-browser', 'google-chrome') if (path := shutil.which(name))), None)
SCENARIOS = Path(__file__).resolve().parents[3] / 'configs' / 'scenarios'
PIPELINE = 'megatron-175b-64-a100'  # eight stages; runs in a second
HOSTILE = '</script><img src=x onerror="document.title=1">'

# Appended to a page: points at the first item of every series, presses every button, and notes what came of it on the root element.
PRESS_BUTTONS = '''<script>
const saved = [];
let tips = 0;
drawn.forEach((chart) => chart.instance.getOption().series.forEach((series, seriesIndex) => {
  if (series.silent) return;
  if (series.type === 'parallel') {  // it has no point for an item: only a pointer shows the tip
    tips += chart.instance.getOption().tooltip[0].formatter({dataIndex: 0}).className === 'tip' ? 1 : 0;
    return;
  }
  chart.instance.dispatchAction({type: 'showTip', seriesIndex, dataIndex: 0});
  tips += chart.element.querySelectorAll('.tip').length;
}));
URL.createObjectURL = (blob) => { saved.push(blob); return 'data:,'; };
HTMLAnchorElement.prototype.click = () => {};
document.querySelectorAll('.buttons button').forEach((button) => button.click());
Promise.all(saved.map((blob) => blob.text())).then((texts) => {
  const lines = texts.map((text) => text.trimEnd().split('\\r\\n').length - 1);
  Object.assign(document.documentElement.dataset, {
    tips: String(tips), saved: lines.join(' '), rows: [...document.querySelectorAll('tbody')].map((body) => body.rows.length).join(' '),
    overflow: String(document.body.scrollWidth - document.body.clientWidth),
    background: getComputedStyle(document.body).backgroundColor,
  });
});
</script>'''


class Page(HTMLParser):
    """The root's attributes, the panels, and how many shapes each panel's chart has."""

    def __init__(self, text):
        super().__init__()
        self.root, self.panels, self.images = {}, [], 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == 'html':
            self.root = attributes
        elif tag == 'section' and 'data-chart' in attributes:
            self.panels.append({**attributes, 'shapes': 0})
        elif tag == 'img':
            self.images += 1
        elif tag in ('path', 'canvas', 'td', 'polyline') and self.panels:
            self.panels[-1]['shapes'] += 1


class BrowserTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name)
        cls.call('run', PIPELINE, '--no-out', '-q', '--html', 'run.html')
        (cls.path / 'search.json').write_text(
            cls.call('search', 'llama3-70b-search-64-h100', '--fix', 'tp=8', '--replay', '1', '--json'))
        (cls.path / 'collective.json').write_text(cls.call('collective', 'dgx-h100', '-b', '1M', '-e', '64M', '--json'))
        (cls.path / 'plan.yaml').write_text(
            'name: small\nscenario: gpt2-1.5b-dgx-a100\ngrid: { training.micro_batch: [1, 2, 4], training.recompute: [none, full] }\n')
        (cls.path / 'ask.yaml').write_text(
            (SCENARIOS / 'gpt2-1.5b-dgx-a100.yaml').read_text(encoding='utf-8') + 'what_if:\n  - { name: slower links, set: { cluster.node.nvlink.bandwidth: 100GB/s } }\n'
            '  - { name: impossible, set: { parallel.tp: 3 } }\n')
        (cls.path / 'sweep.json').write_text(cls.call('sweep', 'plan.yaml', '--db', 'small.sqlite', '--json', '-q'))
        (cls.path / 'compare.json').write_text(
            cls.call('compare', 'gpt2-1.5b-dgx-a100', '--set', 'training.recompute=full', '--json', '-q'))
        (cls.path / 'what_if.json').write_text(cls.call('what-if', 'ask.yaml', '--json', '-q'))
        (cls.path / 'sensitivity.json').write_text(cls.call('sensitivity', 'gpt2-1.5b-dgx-a100', '--json', '-q'))
        cls.write_operation_results()
        cls.call('report', 'sweep.json', 'compare.json', 'what_if.json', 'sensitivity.json', '-o', 'studies.html')
        (cls.path / 'nccl.json').write_text(json.dumps({
            'schema': 'ringwright.validate.nccl/1',
            'logs': [{'log': HOSTILE, 'operation': 'all_reduce', 'ranks': 8, 'rows': [
                {'size': 1 << bits, 'measured_us': bits, 'simulated_us': bits * 1.1} for bits in range(10, 20)]}]}))
        run = json.loads(cls.call('run', 'gpt2-1.5b-dgx-a100', '--json', '--no-out'))
        run['scenario'] = HOSTILE
        run['links'][0]['id'] = HOSTILE
        (cls.path / 'run.json').write_text(json.dumps(run))
        cls.call('report', 'run.json', 'search.json', 'collective.json', 'nccl.json', '-o', 'all.html')

    @classmethod
    def write_operation_results(cls):
        (cls.path / 'jobs.yaml').write_text(
            'name: two-jobs\ncluster:\n  nodes: 4\n  node: { preset: dgx-a100 }\n'
            '  fabric: { type: rail_optimized, scalable_unit: 2, leaf: { ports: 4 }, spine: { ports: 16 } }\n'
            'model: { preset: gpt2-1.5b }\ntraining: { global_batch: 64 }\nparallel: { dp: auto }\n'
            'jobs:\n  - { name: a, gpus: 16, hosts: [0, 2] }\n  - { name: b, gpus: 16, hosts: [1, 3] }\n')
        (cls.path / 'week.yaml').write_text(
            'name: day\ncluster: { hosts: 8, gpus_per_host: 8, hosts_per_unit: 4 }\njobs: { count: 200, span: 24h, median: 1h }\n'
            'speed: { scaling: 0.9, unit: 95%, fabric: 85% }\nscheduler: { policies: [fifo, srtf] }\n')
        (cls.path / 'machines.yaml').write_text(
            'name: machines\nscenario: gpt2-1.5b-dgx-a100\ntokens: 1e11\nmachines:\n  - { name: A100, hosts: [1], set: { cost.preset: dgx-a100 } }\n'
            '  - { name: H100, hosts: [1], set: { cluster.node.preset: dgx-h100, cost.preset: dgx-h100 } }\n')
        files = []
        for words in (['goodput', 'llama3-h100', '--set', 'recovery.compare=[all]'], ['jobs', 'jobs.yaml', '--placements', 'all'],
                      ['cluster', 'week.yaml'], ['tune', 'dgx-h100', '--nodes', '2', '-b', '1M', '-e', '16M'], ['capacity', 'machines.yaml']):
            files.append(f'{words[0]}.json')
            (cls.path / files[-1]).write_text(cls.call(*words, '--json', '-q', '--html', f'{words[0]}.html'))
        cls.call('report', *files, '-o', 'operation.html')

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def call(cls, *arguments):
        return subprocess.run([BINARY, *arguments], cwd=cls.path, capture_output=True, text=True, timeout=300, check=True).stdout

    def opened(self, name, *options):
        """The page after its scripts ran, with all buttons pressed."""
        text = (self.path / name).read_text(encoding='utf-8')
        (self.path / 'pressed.html').write_text(text.replace('</body>', PRESS_BUTTONS + '</body>'), encoding='utf-8')
        done = subprocess.run(
            [BROWSER, '--headless=new', '--no-sandbox', '--disable-gpu', '--virtual-time-budget=20000', '--enable-logging=stderr',
             '--v=0', f'--user-data-dir={self.path / "profile"}', *options, '--dump-dom', f'file://{self.path / "pressed.html"}'],
            capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(re.findall(r'.*CONSOLE.*', done.stderr), [])
        page = Page(done.stdout)
        self.assertEqual(page.root.get('data-problems'), '0')
        self.assertNotIn('could not be drawn', done.stdout.split('<script')[0])
        return page

    def test_every_panel_is_drawn_and_has_its_numbers(self):
        for name, panels in (('run.html', 20), ('all.html', 20), ('studies.html', 12), ('operation.html', 20)):
            page = self.opened(name)
            self.assertGreaterEqual(len(page.panels), panels)
            for panel in page.panels:
                self.assertEqual(panel.get('data-drawn'), 'yes', panel)
                if panel['id'].endswith(('-pipeline', '-over-time')) and name == 'all.html':
                    continue  # only a run that was recorded has tasks
                self.assertGreater(panel['shapes'], 0, panel)
            self.assertGreater(int(page.root['data-tips']), len(page.panels) // 2)
            saved = [int(count) for count in page.root['data-saved'].split()]
            shown = [int(count) for count in page.root['data-rows'].split()]
            self.assertEqual(len(saved), len(shown))
            self.assertGreater(min(saved), 0)
            self.assertEqual(sorted(min(count, 1000) for count in saved), sorted(shown))

    def test_a_command_writes_the_page_of_its_result(self):
        for command in ('goodput', 'jobs', 'cluster', 'tune', 'capacity'):
            self.call('report', f'{command}.json', '-o', 'reported.html')
            written, reported = (re.findall(r'"id":"([^"]*)"', (self.path / name).read_text(encoding='utf-8'))
                                 for name in (f'{command}.html', 'reported.html'))
            self.assertGreaterEqual(len(written), 2, command)
            self.assertEqual(written, reported)

    def test_names_are_text(self):
        page = self.opened('all.html')
        self.assertEqual(page.images, 0)

    def test_follows_the_colours_of_the_system(self):
        for setting, bright in (('0', False), ('1', True)):
            page = self.opened('run.html', f'--blink-settings=preferredColorScheme={setting}')
            red = int(re.match(r'rgb\((\d+)', page.root['data-background']).group(1))
            self.assertEqual(red > 128, bright)

    def test_a_phone_shows_it_without_scrolling_sideways(self):
        # A browser's window is not that narrow.
        text = (self.path / 'run.html').read_text(encoding='utf-8')
        (self.path / 'phone.html').write_text(text.replace('</style>', 'html { max-width: 390px; }</style>', 1), encoding='utf-8')
        page = self.opened('phone.html', '--window-size=500,2000')
        self.assertEqual(page.root['data-overflow'], '0')


if __name__ == '__main__':
    if BROWSER is None:
        print('skipped: no chromium is installed (apt-get install chromium)')
        sys.exit(77)
    unittest.main()
