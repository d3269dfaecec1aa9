#!/usr/bin/env python3
"""Commands on a machine name its GPUs, and what its reader left out. Usage: machine_warnings_test.py BINARY"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

BINARY = sys.argv.pop(1) if len(sys.argv) > 1 else ''

TOPOLOGY = """<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:1b:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="0" sm="90"/></pci>
    <pci busid="0000:2b:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="1" sm="90"/></pci>
    <nic><net name="mlx5_0" dev="0" speed="400000"/><net name="eth0" dev="1" speed="25000"/></nic>
  </cpu>
</system>
"""


class MachineWarningsTest(unittest.TestCase):
    def test_a_nic_that_an_import_leaves_out_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            machine = os.path.join(folder, 'machine.yaml')
            with open(os.path.join(folder, 'topo.xml'), 'w', encoding='utf-8') as file:
                file.write(TOPOLOGY)
            with open(machine, 'w', encoding='utf-8') as file:
                file.write('cluster: {nodes: 2, node: {nccl_topo: topo.xml}}\n')
            for command in (['topo', machine], ['collective', machine, '-b', '1M', '-e', '1M'],
                            ['tune', machine, '-b', '1M', '-e', '1M']):
                done = subprocess.run([BINARY, *command], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("NIC 'eth0' is slower than the others and ignored", done.stderr, command)
                quiet = subprocess.run([BINARY, *command, '-q'], capture_output=True, text=True, check=False)
                self.assertNotIn('eth0', quiet.stderr, command)

    def test_a_collective_names_the_gpus_of_every_group(self):
        with tempfile.TemporaryDirectory() as folder:
            machine = os.path.join(folder, 'machine.yaml')
            with open(machine, 'w', encoding='utf-8') as file:
                file.write('cluster: {groups: [{nodes: 1, node: {preset: dgx-h100}}, {nodes: 1, node: {preset: dgx-a100}}],'
                           ' fabric: {type: fat_tree}}\n')
            command = [BINARY, 'collective', machine, '-b', '1M', '-e', '1M']
            text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            self.assertIn('2 hosts x 8 H100-SXM5-80GB and A100-SXM4-80GB, fabric', text)
            result = json.loads(subprocess.run([*command, '--json'], capture_output=True, text=True, check=True).stdout)
            self.assertEqual(result['gpu'], 'H100-SXM5-80GB and A100-SXM4-80GB')


if __name__ == '__main__':
    unittest.main()
