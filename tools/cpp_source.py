"""C++ source as the house test reads it: code without comments and strings, comments by line, and functions with lengths.

Not a parser: it relies on clang-format's layout and on balanced braces, which is enough to measure and to search.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|'
    r"(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'", re.S)
_DIRECTIVE = re.compile(r'^[ \t]*#(?:\\.|\\\n|[^\\\n])*', re.M)
_NAMESPACE = re.compile(r'\b(namespace|extern)\b[^()=]*$')
_AGGREGATE = re.compile(r'\b(class|struct|union)\b[^()]*$')

_CLASS = re.compile(r'(?<!enum )\bclass\s+(\w+)(?:\s+final)?\s*(?::[^;{}()]*)?\{')
# The end of a declaration; with a closing brace where an initialiser was left out.
_MEMBER = re.compile(r'(?<![\w.>])([a-z]\w*_)\s*(?:\[[^\]]*\]\s*)*(?:=[^=].*|\})?$', re.S)


@dataclass
class Function:
    name: str
    first_line: int
    last_line: int

    @property
    def length(self):
        return self.last_line - self.first_line + 1


@dataclass
class Class:
    name: str
    first_line: int
    members: list


def blank(match):
    """Preserves the shape of the removed text: newlines stay, a string keeps its quotes."""
    text = match.group(0)
    if text.startswith(('/', 'R')):
        return re.sub(r'[^\n]', ' ', text)
    return text[0] + ' ' * (len(text) - 2) + text[-1]


class CppSource:
    """One file: `text` as it is, `code` with comments and string contents blanked out, line for line."""

    def __init__(self, text):
        self.text = text
        # The names in include lines look like strings, but they are code.
        self.code = _TOKEN.sub(lambda m: m.group(0) if self._is_include(m) else blank(m), text)
        self.code_lines = self.code.split('\n')
        self.lines = text.split('\n')

    def _is_include(self, match):
        start = self.text.rfind('\n', 0, match.start()) + 1
        return match.group(0).startswith('"') and self.text[start:match.start()].strip() == '#include'

    @cached_property
    def includes(self):
        """(line number, name, whether it is ours: in quotes)."""
        matches = [(number, re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line))
                   for number, line in enumerate(self.code_lines, 1) if 'include' in line]
        return [(number, match.group(2), match.group(1) == '"') for number, match in matches if match]

    @cached_property
    def comments(self):
        """(line number, text behind the //) of every line comment."""
        return [(self.text.count('\n', 0, match.start()) + 1, match.group(0)[2:])
                for match in _TOKEN.finditer(self.text) if match.group(0).startswith('//')]

    def opening_comment(self):
        """The comment that the file starts with, without the slashes; empty when it starts with something else."""
        head = []
        for line in self.lines:
            if not line.startswith('//'):
                break
            head.append(line[2:].strip())
        return ' '.join(head).strip()

    def functions(self):
        """Functions with bodies, outermost only (a lambda counts to its function)."""
        return [scan for scan in self._scan if isinstance(scan, Function)]

    def namespace_statements(self):
        """(line number, statement) of everything at namespace scope that ends with a semicolon or an initialiser."""
        return [scan for scan in self._scan if not isinstance(scan, Function)]

    def classes(self):
        """Every `class` with a body: its name, the line where it begins, and its data members (names that end in _)."""
        for match in _CLASS.finditer(self.code):
            declarations = _without_braces(self.code, match.end()).split(';')
            members = [found.group(1) for found in map(_MEMBER.search, declarations) if found]
            yield Class(match.group(1), self.code.count('\n', 0, match.start()) + 1, members)

    @cached_property
    def _scan(self):
        code = _DIRECTIVE.sub(lambda m: re.sub(r'[^\n]', ' ', m.group(0)), self.code)
        line_starts = [0] + [match.end() for match in re.finditer('\n', code)]
        found, stack, start = [], [], 0  # the stack holds '(', 'scope', 'aggregate', 'other' and open Functions
        for match in re.finditer('[{}();]', code):
            mark = match.group()
            if mark in ')}':
                closed = stack.pop() if stack else None
                if isinstance(closed, Function):
                    closed.last_line = bisect_right(line_starts, match.start())
            elif mark == '(' or '(' in stack[-1:]:
                # Default arguments and lambdas among them: the head is not complete yet.
                if mark != ';':
                    stack.append('(' if mark == '(' else 'other')
            else:
                head = re.sub(r'^\s*(?:(?:public|private|protected)\s*:\s*)*', '', code[start:match.start()])
                line = bisect_right(line_starts, match.start() - len(head))
                kind = _kind(head, stack) if mark == '{' else 'other'
                if kind == 'function':
                    kind = Function(_name(head), line, line)
                    found.append(kind)
                elif kind == 'other' and head.strip() and all(outer == 'scope' for outer in stack):
                    found.append((line, ' '.join(head.split())))
                if mark == '{':
                    stack.append(kind)
            if mark in '{};' and '(' not in stack:
                start = match.end()
        return found


def _without_braces(code, start):
    """What an aggregate declares, from behind its opening brace to its end; what nested braces hold is left out."""
    depth, outside = 1, []
    for match in re.finditer(r'[{}]|[^{}]+', code[start:]):
        depth += {'{': 1, '}': -1}.get(match.group(), 0)
        if depth == 0:
            break
        if depth == 1:
            outside.append(match.group())
    return ''.join(outside)


def _kind(head, stack):
    """What an opening brace opens, from the text before it and the braces around it."""
    if any(kind in ('other', '(') or isinstance(kind, Function) for kind in stack):
        return 'other'
    without_template = re.sub(r'^template\s*<.*?>\s*(?=(class|struct|union)\b)', '', head, flags=re.S)
    if _AGGREGATE.search(without_template) and '=' not in without_template:
        return 'aggregate'
    if _NAMESPACE.search(head):
        return 'scope'
    is_initialiser = re.search(r'(?<![=!<>])=\s*$', head)
    return 'function' if '(' in head and not is_initialiser else 'other'


def _name(head):
    match = re.search(r'(TEST(?:_[FP])?\s*\([^)]*\)|[\w:~]+|operator\S+)\s*(?=\()', re.sub(r'\s+', ' ', head))
    if head.lstrip().startswith('TEST'):
        return ' '.join(re.sub(r'\s+', ' ', head).split())
    return match.group(1) if match else head.strip()
