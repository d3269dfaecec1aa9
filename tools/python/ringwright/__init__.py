"""ringwright: what a training step costs on a GPU cluster.

    import ringwright

    result = ringwright.run('llama3-8b-8-h100', set={'parallel.tp': 2})
    result['metrics']['step_time_s']['mean']

Every function takes what the command of its name takes and returns the JSON of its result as dictionaries and lists
(docs/result-format.md). A scenario is the path of a YAML file, the name of a shipped scenario, or a dictionary with the
keys of one; files that a dictionary names need absolute paths. `set` changes values, as `--set` does. Mistakes raise ringwright.Error with the message of the command
line. Simulations run without Python's global lock, so threads simulate at the same time.
"""

import json as _json
import os as _os
import tempfile as _tempfile
import warnings as _warnings
from contextlib import contextmanager as _contextmanager

from . import _ringwright
from ._ringwright import Error, __version__

__all__ = ['Error', '__version__', 'run', 'search', 'sweep', 'compare', 'what_if', 'sensitivity', 'validate', 'columns',
           'write_report']


def _settings(changes):
    """`set` as KEY=VALUE. JSON is YAML, so every value keeps its type."""
    if changes is None:
        return []
    if not isinstance(changes, dict):
        return list(changes)
    return [f'{key}={value if isinstance(value, str) else _json.dumps(value)}' for key, value in changes.items()]


def _heeded(warned):
    """The result of a function that also has warnings, which Python shows as its own."""
    result, warnings = warned
    if warnings:
        _warnings.warn(warnings.rstrip(), stacklevel=3)
    return _json.loads(result)


@_contextmanager
def _file_of(content):
    """The path of a file: the one that is named, or a temporary one with the dictionary. JSON is YAML."""
    if not isinstance(content, dict):
        yield _os.fspath(content)
        return
    with _tempfile.TemporaryDirectory() as folder:
        path = _os.path.join(folder, f'{content.get("name", "scenario")}.yaml'.replace('/', '_'))
        with open(path, 'w', encoding='utf-8') as file:
            _json.dump(content, file)
        yield path


def run(scenario, set=None, fold=True):
    """Predicts one training step. `fold=False` simulates every rank."""
    with _file_of(scenario) as path:
        return _json.loads(_ringwright.run(path, _settings(set), fold))


def search(scenario, set=None, threads=0):
    """Searches for the best layout. Axes and limits are keys of `search`: set={'search.tp': [4, 8]}."""
    with _file_of(scenario) as path:
        return _json.loads(_ringwright.search(path, _settings(set), threads))


def sweep(plan, database='', threads=0, allow_slow=False):
    """Simulates the points of a sweep (docs/sweep.md): a file, or a dictionary with its keys.

    In a dictionary, a scenario's path counts from the working directory. With `database`, the path of an SQLite file, no point is simulated twice; without one nothing is stored.
    """
    if isinstance(plan, dict) and _os.path.exists(plan.get('scenario', '')):
        plan = {**plan, 'scenario': _os.path.abspath(plan['scenario'])}
    with _file_of(plan) as path:
        return _heeded(_ringwright.sweep(path, _os.fspath(database), threads, allow_slow))


def compare(*sides, set=None):
    """The difference between scenarios or results, by cause. `set` changes the second side."""
    names = [_os.fspath(side) for side in sides]
    if len(names) == 1 and set:
        names *= 2
    return _json.loads(_ringwright.compare(names, _settings(set)))


def what_if(scenario, set=None, threads=0):
    """Simulates the what-ifs that the scenario lists."""
    with _file_of(scenario) as path:
        return _json.loads(_ringwright.what_if(path, _settings(set), threads))


def sensitivity(scenario, set=None, by=0.1, threads=0):
    """How the step time responds to each physical parameter, changed alone by the share `by`."""
    with _file_of(scenario) as path:
        return _json.loads(_ringwright.sensitivity(path, _settings(set), by, threads))


def validate(kind, *files, set=None):
    """Compares predictions with measurements: 'nccl' with logs of nccl-tests, 'training' with tables of runs."""
    return _heeded(_ringwright.validate(kind, [_os.fspath(file) for file in files], _settings(set)))


def columns(rows):
    """Rows of a result (its `points`, `results`, `ranking`, ...) as NumPy arrays by key; nested keys are joined by dots.

    A number that a row lacks is NaN; a text that it lacks is empty.
    """
    import numpy  # only here: nothing else needs it

    def flat(row, prefix=''):
        for key, value in row.items():
            if isinstance(value, dict):
                yield from flat(value, f'{prefix}{key}.')
            elif not isinstance(value, list):
                yield prefix + key, value

    table = [dict(flat(row)) for row in rows]
    keys = dict.fromkeys(key for row in table for key in row)
    arrays = {}
    for key in keys:
        values = [row.get(key) for row in table]
        if all(value is None or isinstance(value, (int, float)) for value in values):
            arrays[key] = numpy.array([numpy.nan if value is None else value for value in values])
        else:
            arrays[key] = numpy.array(['' if value is None else str(value) for value in values])
    return arrays


def write_report(result, path):
    """Writes the HTML page of a result: one file that needs no network (docs/report.md)."""
    page = _ringwright.page(_json.dumps(result))
    with open(path, 'w', encoding='utf-8') as file:
        file.write(page)
