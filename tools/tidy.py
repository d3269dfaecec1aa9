#!/usr/bin/env python3
"""The house rules as a test: who may include whom, sizes, banned things, file heads, tables and presets that tests miss.

    tools/tidy.py [ROOT]    prints one line per finding, `path:line: message`; exit code 1 when there is one

The include table and the table of heavy libraries are read from ARCHITECTURE.md, the tables of larger classes and of
retired words from STYLE.md: their only sources.
"""

import re
import sys
from pathlib import Path

from cpp_source import CppSource

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_MEMBERS = 12
MAX_COLUMNS = 120  # as clang-format has it
SKIPPED_FOLDERS = {'build', 'out', '.git', '.github', '__pycache__'}
WINGS = ('network_models', 'collectives', 'workload', 'traces')

# (what, pattern on code without comments and strings, folders it holds for, folders exempt, remedy)
BANNED = [
    ('using namespace in a header', r'^using\s+namespace\b', ('*.h',), (), 'open it in the .cc, or in a function'),
    ('float', r'\bfloat\b', ('',), (), 'use double'),
    ('shared_ptr', r'\bshared_ptr\b', ('',), (), 'use a value or unique_ptr'),
    ('raw new', r'\bnew\s+[A-Za-z_:]+\s*[({<\[;]', ('',), (), 'use make_unique or a container'),
    ('dynamic_cast', r'\bdynamic_cast\b', ('',), (), 'let the port ask'),
    ('std::function', r'\bstd::function\b', ('core/engine', 'core/run', 'network_models'), (), 'use Action or a template'),
    ('std::list', r'\bstd::list\b', ('core/engine', 'core/run', 'network_models'), (), 'use a vector'),
    ('range views', r'\b(?:std::)?(?:ranges::)?views::', ('',), (), 'write the loop'),
    ('<source_location>', r'<source_location>', ('',), (), 'CHECK reports its position'),
    ('== on a double', r'[=!]=\s*-?\d+\.\d*(?:e[-+]?\d+)?\b|\b\d+\.\d*(?:e[-+]?\d+)?\s*[=!]=', ('',), ('tests',),
     'compare the integers, or use <'),
    ('exit', r'(?<![\w.:>])(?:std::)?(?:exit|_Exit|quick_exit)\s*\(', ('',), ('tools', 'tests'), 'return a result'),
    ('printing', r'\bstd::c(?:out|err|log)\b|\bf?printf\s*\(|\bfmt::print\s*\(|\bputs\s*\(', ('',),
     ('tools', 'tests', 'core/base/check.cc'), 'return text; only tools print'),
    ('a macro', r'^[ \t]*#\s*define\s+(?!CHECK\b|DCHECK\b)', ('',), ('tests',), 'use a function or a constant'),
    ('std::format', r'\bstd::format\b', ('',), (), 'g++ 12 has none: use fmt'),
]

MUTABLE_STATIC = re.compile(r'^\s+(?:static|thread_local)\s+(?!const\b|constexpr\b|consteval\b|constinit\s+const\b)'
                            r'[\w:<>,\s*&]+?[\s&*]\w+\s*(?:;|=|\{)')
NOT_A_VARIABLE = re.compile(r'^(?:using|typedef|template|friend|namespace|struct|class|enum|union|static_assert|return|'
                            r'__extension__|extern\s+template|\[\[|(?:inline\s+|static\s+)*const(?:expr|eval)?\b)')
VARIABLE = re.compile(r'^(?:(?:static|inline|extern|thread_local|constinit)\s+)*[\w:]+(?:<.*>)?[\s*&]+\w+(?:\[\w*\])*\s*(?:=.*)?$')
CODE_IN_COMMENT = re.compile(r'^\s{0,3}(?:[\w:.>\-\[\]]+\s*(?:=|\+=|\()[^.]*;|(?:if|for|while|switch)\s*\(.*[{;]|'
                             r'[\w:<>&* ]+\)\s*(?:const\s*)?\{|\}|return\b.*;|#include\b.*)\s*$')
CONSTANT = re.compile(r'^(?:inline\s+)?constexpr\b[^=({]*?\b(k[A-Z]\w*)\s*(?:\[\w*\]\s*)?(?:[={(]|$)')
ABSOLUTE_PATH = re.compile(r'(?<![\w.$}~/*])/(?:home|root|work|mnt|srv|opt|Users|workspace|builds?)/\w')


class House:
    """All files of one checkout, read once, and the findings about them."""

    def __init__(self, root):
        self.root = Path(root)
        self.files = sorted(self._walk(self.root))
        self.sources = {name: CppSource(self.read(name)) for name in self.files if name.endswith(('.h', '.cc'))}
        self.findings = []

    def _walk(self, folder):
        for entry in folder.iterdir():
            if entry.is_dir() and entry.name not in SKIPPED_FOLDERS and not entry.is_symlink():
                yield from self._walk(entry)
            elif entry.is_file():
                yield entry.relative_to(self.root).as_posix()

    def read(self, name):
        return (self.root / name).read_text(encoding='utf-8', errors='replace')

    def report(self, name, line, message):
        self.findings.append((name, line, message))


def table_rows(markdown, first_header):
    """Cells of the rows of the Markdown table whose first header cell is the given one."""
    rows, inside = [], False
    for line in markdown.split('\n'):
        cells = [cell.strip() for cell in line.strip().strip('|').split('|')] if line.startswith('|') else []
        if not cells:
            inside = False
        elif cells[0] == first_header:
            inside = True
        elif inside and not set(cells[0]) <= set('-: '):
            rows.append(cells)
    return rows


def names_in(cell):
    return re.findall(r'`([^`]+)`', cell)


def folder_of(name, folders):
    """The longest folder of the table in which the file lies."""
    return max((f for f in folders if name.startswith(f + '/')), key=len, default=None)


def check_layers(house):
    rows = table_rows(house.read('ARCHITECTURE.md'), 'folder') if 'ARCHITECTURE.md' in house.files else []
    allowed = {folder: names_in(may) for folders, may, *_ in rows for folder in names_in(folders)}
    if not allowed:
        house.report('ARCHITECTURE.md', 1, 'there is no include table (a table whose first column is "folder")')
    for name, source in house.sources.items():
        if name.startswith('tests/'):
            continue
        folder = folder_of(name, allowed)
        if folder is None:
            house.report(name, 1, 'lies in a folder that the include table of ARCHITECTURE.md does not know')
            continue
        for line, included, ours in source.includes:
            if not ours:
                continue
            target = folder_of(included, allowed)
            if included not in house.sources:
                house.report(name, line, f'includes "{included}", which does not exist (paths start at the root)')
            elif target != folder and target not in allowed[folder]:
                house.report(name, line, f'{folder} must not include {target} ("{included}"); see ARCHITECTURE.md')


def check_libraries(house):
    rows = table_rows(house.read('ARCHITECTURE.md'), 'library') if 'ARCHITECTURE.md' in house.files else []
    limits = [(library, names_in(headers), names_in(places)) for library, headers, places, *_ in rows]
    for name, source in house.sources.items():
        for line, included, _ in source.includes if not name.startswith('tests/') else ():
            for library, headers, places in limits:
                at_home = any(name == place or name.startswith(place.rstrip('/') + '/') for place in places)
                if any(included.startswith(header) for header in headers) and not at_home:
                    house.report(name, line, f'{library} (<{included}>) may be included only in {", ".join(places)}')


def room_of(name):
    return re.sub(r'\.(h|cc)$', '', name)


def check_cycles(house):
    edges = {name: {included for _, included, ours in source.includes if ours and included in house.sources}
             for name, source in house.sources.items()}
    state = {}

    def visit(name, path):
        state[name] = 'open'
        for target in sorted(edges[name]):
            if state.get(target) == 'open':
                house.report(target, 1, 'includes form a cycle:  ' + ' -> '.join(path[path.index(target):] + [target]))
            elif target not in state:
                visit(target, path + [target])
        state[name] = 'done'

    for name in sorted(edges):
        if name not in state:
            visit(name, [name])


def check_rooms(house):
    """Folders inside a wing include each other in one direction. A folder's tables and codes may be used by all."""
    edges = {}
    for name, source in house.sources.items():
        top, here = name.split('/')[0], name.rpartition('/')[0]
        if top == 'tests':
            continue
        for line, included, ours in source.includes:
            there = included.rpartition('/')[0]
            shared = re.match(r'(builtin\w*|error_codes|key_effects)\.h$', included.rpartition('/')[2])
            if ours and there != here and included.startswith(top + '/') and not shared:
                edges.setdefault(here, {}).setdefault(there, (name, line))
    state = {}

    def visit(room, path):
        state[room] = 'open'
        for target, (name, line) in sorted(edges.get(room, {}).items()):
            if state.get(target) == 'open':
                house.report(name, line, 'rooms include each other in a cycle: ' +
                             ' -> '.join(path[path.index(target):] + [target]))
            elif target not in state:
                visit(target, path + [target])
        state[room] = 'done'

    for room in sorted(edges):
        if room not in state:
            visit(room, [room])


def check_sizes(house):
    for name in house.files:
        if not name.endswith(('.h', '.cc', '.py', '.sh')):
            continue
        count = len(house.read(name).rstrip('\n').split('\n'))
        if count > MAX_FILE_LINES:
            house.report(name, count, f'has {count} lines, at most {MAX_FILE_LINES} are allowed: split it by noun')
    for name, source in house.sources.items():
        for line, text in enumerate(house.read(name).split('\n'), 1):
            # Lines of a raw string may be the expected output of a file under test.
            if len(text) > MAX_COLUMNS and (source.code_lines[line - 1].strip() or text.strip().startswith('//')):
                house.report(name, line, f'has {len(text)} columns, at most {MAX_COLUMNS} are allowed')
        for function in source.functions():
            if function.length > MAX_FUNCTION_LINES:
                house.report(name, function.first_line, f'{function.name} has {function.length} lines, at most '
                             f'{MAX_FUNCTION_LINES} are allowed')


def check_members(house):
    """Data members of classes: many, or the exceptions of STYLE.md."""
    rows = table_rows(house.read('STYLE.md'), 'class') if 'STYLE.md' in house.files else []
    larger = {name: (cells + ['', ''])[:2] for names, *cells in rows for name in names_in(names)}
    found = set()
    for name, source in house.sources.items():
        for entry in source.classes():
            limit, reason = larger.get(entry.name, (str(MAX_MEMBERS), 'no exception'))
            if len(entry.members) > MAX_MEMBERS:
                found.add(entry.name)
            if not limit.isdigit() or not reason:
                house.report('STYLE.md', 1, f'the exception of class {entry.name} needs a number of members and a reason')
            elif len(entry.members) > int(limit):
                house.report(name, entry.first_line, f'class {entry.name} has {len(entry.members)} data members, at most '
                             f'{limit} are allowed: what changes together is a noun of its own')
    for name in sorted(set(larger) - found):
        house.report('STYLE.md', 1, f'no class {name} has more than {MAX_MEMBERS} data members: remove its exception')


def check_heads(house):
    """Headers, and sources without a header of their own, open with one sentence that names them."""
    for name, source in house.sources.items():
        has_header = name.endswith('.cc') and room_of(name) + '.h' in house.sources
        if name.startswith('tests/') or has_header:
            continue
        head = source.opening_comment()
        if not head:
            house.report(name, 1, 'does not open with a sentence that names it')
        elif len(head.split()) < 3 or not re.search(r'[.:](\s|$)', head):
            house.report(name, 1, f'the opening "{head[:60]}" is not a sentence')
        elif re.match(r'(?i)this (file|header)\b', head):
            house.report(name, 1, 'the opening sentence should name the thing, not "this file"')


def check_namespaces(house):
    """Namespace = folder, one level: core is `ringwright`, a wing is `ringwright::wing`. A test's ends with its file."""
    tests_in = {}
    for name, source in sorted(house.sources.items()):
        folder = name.split('/')[0]
        wanted = 'ringwright' if folder == 'core' else f'ringwright::{folder}'
        given = re.findall(r'^namespace\s+([\w:]+)\s*\{', source.code, re.M)
        if given and wanted not in given and folder != 'tests':
            house.report(name, 1, f'is in namespace {given[0]}, should be in {wanted}')
        # Several test files of a folder are compiled as one: their private names must not collide.
        if given and re.match(r'tests/.*_test\.cc$', name):
            first = tests_in.setdefault((name.split('/')[1], given[0]), name)
            if first != name or not given[0].endswith('::' + Path(name).stem):
                house.report(name, 1, f'is in namespace {given[0]}, should be in one of its own that ends with ::{Path(name).stem}')


def check_hidden(house):
    """A source's constant has no namesake in a header of its library or of core: joined sources would silently take it."""
    shared = {}
    for name, source in house.sources.items():
        for _, statement in source.namespace_statements() if name.endswith('.h') else ():
            match = CONSTANT.match(statement)
            if match:
                shared.setdefault(match.group(1), []).append(name)
    for name, source in house.sources.items():
        is_joined = name.endswith('.cc') and not name.startswith('tests/')  # each test file has a namespace of its own
        for line, statement in source.namespace_statements() if is_joined else ():
            match = CONSTANT.match(statement)
            for header in shared.get(match.group(1), ()) if match else ():
                if header.split('/')[0] in ('core', name.split('/')[0]):
                    house.report(name, line, f'{match.group(1)} hides the constant of {header} in sources that are compiled '
                                 'together: give it a name of its own')


def check_namesakes(house):
    """Two types of one name in one namespace would be one type to the linker, and stop joined sources from compiling."""
    places = {}
    for name, source in house.sources.items():
        if not name.endswith('.h') or name.startswith('tests/'):
            continue
        for match in re.finditer(r'^(?:struct|class|enum class)\s+(\w+)\s*(?:final\s*)?(?::[^:;]*)?\{', source.code, re.M):
            line = source.code.count('\n', 0, match.start()) + 1
            first = places.setdefault((name.split('/')[0], match.group(1)), name)
            if first != name:
                house.report(name, line, f'{match.group(1)} is the name of a type in {first} as well')


def check_banned(house):
    for name, source in house.sources.items():
        for what, pattern, places, exempt, way_out in BANNED:
            holds = any(place == '*.h' and name.endswith('.h') or place != '*.h' and name.startswith(place) for place in places)
            word = re.fullmatch(r'\\b([\w:]+)\\b', pattern)  # much faster to look for than the pattern
            if not holds or name.startswith(exempt or '//') or (word and word.group(1) not in source.code):
                continue
            for match in re.finditer(pattern, source.code, re.M):
                house.report(name, source.code.count('\n', 0, match.start()) + 1, f'{what} is banned: {way_out}')
        for line, text in source.comments:
            if re.search(r'\b(?:TO' r'DO|FIX' r'ME|XX' r'X)\b', text):
                house.report(name, line, 'a promise of later work: do it, or remove it')
            if CODE_IN_COMMENT.match(text):
                house.report(name, line, f'commented-out code: "{text.strip()[:50]}"')


def check_globals(house):
    for name, source in house.sources.items():
        for line, statement in source.namespace_statements():
            if VARIABLE.match(statement) and not NOT_A_VARIABLE.match(statement):
                house.report(name, line, f'a mutable global: "{statement[:50]}"')
        for line, text in enumerate(source.code_lines, 1):
            if MUTABLE_STATIC.match(text):
                house.report(name, line, f'a mutable static: "{text.strip()[:50]}"')


def check_plugins(house):
    """A wing's .cc without a header is a plug-in: a builtin table names it. Or a header of the wing declares it."""
    for name in house.sources:
        wing = next((w for w in WINGS if name.startswith(w + '/')), None)
        stem = Path(name).stem
        if not wing or not name.endswith('.cc') or room_of(name) + '.h' in house.sources or stem.startswith('builtin'):
            continue
        named_in = [source.code for other, source in house.sources.items()
                    if other.startswith(wing + '/') and (other.endswith('.h') or '/builtin' in other)]
        first_words = stem.rpartition('_')[0]
        # max_min_members.cc may simply be the second source of max_min.h.
        is_second_source = first_words and f'{name[:name.rindex("/")]}/{first_words}.h' in house.sources
        if not is_second_source and not re.search(rf'(?<![a-z0-9]){re.escape(stem)}(?![a-z0-9])', ' '.join(named_in)):
            house.report(name, 1, f'no builtin table of {wing} names "{stem}": nobody can choose this plug-in')
    for name in house.sources:
        stem = Path(name).stem
        if re.match(r'tools/(studies/)?[^/]+\.cc$', name) and stem != 'main' and room_of(name) + '.h' not in house.sources:
            table = 'tools/studies/main.cc'
            if table in house.sources and not re.search(rf'\b(?:make_|run_)?{stem}(?:_command)?\b',
                                                        house.sources[table].text):
                house.report(name, 1, f'the table of subcommands in {table} does not name "{stem}"')


def check_presets(house):
    """Every shipped YAML file is named by a test, or a test walks through its folder."""
    tests = [house.read(name) for name in house.files if name.startswith('tests/') and name.endswith(('.cc', '.h', '.py'))]
    walkers = ' '.join(text for text in tests if 'directory_iterator' in text)
    everything = ' '.join(tests)
    for name in house.files:
        if not re.match(r'configs/.+\.ya?ml$', name):
            continue
        path = Path(name)
        walked = re.search(rf'["/]{re.escape(path.parent.name)}["/]', walkers)
        if not walked and not re.search(rf'["/]{re.escape(path.stem)}(?:\.ya?ml)?"', everything):
            house.report(name, 1, 'no test loads this file')


def check_paths(house):
    for name in house.files:
        is_data = name.startswith(('tests/', 'validation/')) and not name.endswith(('.h', '.cc', '.py'))
        is_text = name.endswith(('.h', '.cc', '.py', '.sh', '.md', '.txt', '.yaml', '.json')) or name in ('run', 'test', '.ci/run')
        if is_data or not is_text:
            continue
        for line, text in enumerate(house.read(name).split('\n'), 1):
            match = ABSOLUTE_PATH.search(text)
            if match:
                house.report(name, line, f'names a path of some machine: "{text[match.start():match.start() + 40]}"')


def check_words(house):
    """No file uses a retired word of STYLE.md's table, in prose or as a part of a name."""
    if 'STYLE.md' not in house.files:
        return
    retired = [word for row in table_rows(house.read('STYLE.md'), 'retired') for word in names_in(row[0])]
    if not retired:
        return
    pattern = re.compile(r'(?<![a-z])(?:' + '|'.join(map(re.escape, retired)) + r')(?![a-z])')
    words_of_names = re.compile(r'(?<=[a-z0-9])(?=[A-Z])')  # CamelCase
    for name in house.files:
        if name in ('STYLE.md', 'tests/tools/tidy_test.py') or not name.endswith(('.h', '.cc', '.py', '.sh', '.md', '.yaml')):
            continue
        text = words_of_names.sub('_', house.read(name).replace('TrainMover', '')).lower()  # that is a published system
        for line, text in enumerate(text.split('\n') if pattern.search(text) else (), 1):
            match = pattern.search(text)
            if match:
                house.report(name, line, f'"{match.group()}" is a retired word: STYLE.md says what to use')


CHECKS = [check_layers, check_libraries, check_cycles, check_rooms, check_sizes, check_members, check_heads,
          check_namespaces, check_hidden, check_namesakes, check_banned, check_globals, check_plugins, check_presets, check_paths,
          check_words]


def tidy(root):
    house = House(root)
    for check in CHECKS:
        check(house)
    return sorted(house.findings)


def main(arguments):
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    findings = tidy(root)
    for name, line, message in findings:
        print(f'{name}:{line}: {message}')
    print(f'{len(findings)} finding{"" if len(findings) == 1 else "s"}' if findings else 'the house is tidy')
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
