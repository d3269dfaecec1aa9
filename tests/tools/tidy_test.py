#!/usr/bin/env python3
"""tools/tidy.py finds what it should find: each test plants one violation in a small tidy house."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'tools'))

from cpp_source import CppSource  # noqa: E402
from tidy import tidy  # noqa: E402

ARCHITECTURE = '''
| folder | may include | holds |
|---|---|---|
| `core/base` | | ground |
| `core/engine` | `core/base` | clock |
| `collectives` | `core/base` | messages |
| `network_models` | `core/base`, `core/engine` | wires |
| `tools` | `core/base` | command line |

| library | headers | only in |
|---|---|---|
| yaml-cpp | `yaml-cpp/` | `core/base/reader.cc` |
'''

TIDY_HOUSE = {
    'ARCHITECTURE.md': ARCHITECTURE,
    'core/base/units.h': '// Quantities with types.\n#pragma once\n\nint twice(int value);\n',
    'core/base/units.cc': '#include "core/base/units.h"\n\nint twice(int value) { return 2 * value; }\n',
    'core/engine/engine.h': '// The clock and what happens next.\n#pragma once\n\n#include "core/base/units.h"\n',
    'collectives/builtin.cc': '// The table of collective algorithms.\n#include "core/base/units.h"\nint make_ring();\n',
    'collectives/steps/ring.cc': '// Ring: every member passes to the next.\nint make_ring() { return 1; }\n',
    'configs/gpus/h100.yaml': 'name: h100\n',
    'tests/core/base/units_test.cc': 'TEST(Units, LoadsThePreset) { load("gpus/h100.yaml"); }\n',
}


class TidyTest(unittest.TestCase):
    def findings(self, changes):
        """Messages about the tidy house after some files were added or replaced."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**TIDY_HOUSE, **changes}.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding='utf-8')
            return [f'{name}:{line}: {message}' for name, line, message in tidy(folder)]

    def assert_only_finding(self, changes, expected):
        findings = self.findings(changes)
        self.assertEqual(len(findings), 1, findings)
        self.assertIn(expected, findings[0])

    def header(self, body):
        return {'core/base/more.h': '// More of the ground, for this test.\n#pragma once\n' + body}

    def test_a_tidy_house_has_no_findings(self):
        self.assertEqual(self.findings({}), [])

    # --- words ---

    def test_a_retired_word_is_found_in_prose_and_in_names(self):
        words = {'STYLE.md': '| retired | use |\n|---|---|\n| `lap` | cycle |\n'}
        self.assert_only_finding({**words, **self.header('int first_lap(int value);\n')}, '"lap" is a retired word')
        self.assert_only_finding({**words, **self.header('// Of a Lap.\nint twice_more(int value);\n')}, '"lap" is a retired')
        self.assert_only_finding({**words, **self.header('int cycles(int LapTimes);\n')}, '"lap" is a retired word')
        self.assertEqual(self.findings({**words, **self.header('int overlap(int flaps);\n')}), [])

    # --- includes ---

    def test_a_collective_must_not_know_the_clock(self):
        self.assert_only_finding(
            {'collectives/steps/ring.cc': '// Ring: passes on.\n#include "core/engine/engine.h"\n'},
            'collectives/steps/ring.cc:2: collectives must not include core/engine ("core/engine/engine.h")')

    def test_an_include_by_a_wrong_path_is_found(self):
        self.assert_only_finding(self.header('#include "units.h"\n'), 'includes "units.h", which does not exist')

    def test_an_include_in_a_comment_does_not_count(self):
        self.assertEqual(self.findings(self.header('//     #include "core/engine/engine.h"\n')), [])

    def test_a_folder_without_a_row_is_found(self):
        self.assert_only_finding({'extra/a.h': '// A new room that nobody planned.\n'}, 'extra/a.h:1: lies in a folder')

    def test_a_missing_table_is_found(self):
        self.assertIn('there is no include table', ' '.join(self.findings({'ARCHITECTURE.md': 'nothing\n'})))

    def test_a_heavy_library_outside_its_file_is_found(self):
        self.assert_only_finding(self.header('#include <yaml-cpp/yaml.h>\n'), 'may be included only in core/base/reader.cc')

    def test_a_heavy_library_in_its_file_is_fine(self):
        self.assertEqual(self.findings({'core/base/reader.cc': '// Reads text files.\n#include <yaml-cpp/yaml.h>\n'}), [])

    def test_headers_in_a_circle_are_found(self):
        self.assert_only_finding({'core/base/a.h': '// The first of two.\n#include "core/base/b.h"\n',
                                  'core/base/b.h': '// The second of two.\n#include "core/base/a.h"\n'},
                                 'core/base/a.h -> core/base/b.h -> core/base/a.h')

    # --- sizes ---

    def function(self, lines):
        return 'int f(int a) {\n' + '  a += 1;\n' * (lines - 2) + '}\n'

    def test_a_function_of_sixty_lines_is_fine(self):
        self.assertEqual(self.findings(self.header(self.function(60))), [])

    def test_a_function_of_sixty_one_lines_is_found(self):
        self.assert_only_finding(self.header(self.function(61)), 'core/base/more.h:3: f has 61 lines')

    def test_a_long_file_is_found(self):
        self.assert_only_finding(self.header('int a();\n' * 399), 'has 401 lines')
        self.assertEqual(self.findings(self.header('int a();\n' * 398)), [])

    def wide_class(self, members):
        return self.header('class Wide final : public Base<int> {\n public:\n  int sum() const { return a_; }\n\n private:\n'
                           '  int a_ = 0;\n' + ''.join(f'  std::vector<int> m{m}_;\n' for m in range(members - 1)) + '};\n')

    def exception(self, limit, reason='a register of its own'):
        return {'STYLE.md': f'| class | members | reason |\n|---|---|---|\n| `Wide` | {limit} | {reason} |\n'}

    def test_a_class_of_many_members_is_found(self):
        self.assertEqual(self.findings(self.wide_class(12)), [])
        self.assert_only_finding(self.wide_class(13), 'core/base/more.h:3: class Wide has 13 data members, at most 12')

    def test_a_listed_class_may_have_as_many_members_as_listed(self):
        self.assertEqual(self.findings(self.wide_class(14) | self.exception(14)), [])
        self.assert_only_finding(self.wide_class(15) | self.exception(14), 'has 15 data members, at most 14')

    def test_an_exception_needs_a_reason(self):
        self.assert_only_finding(self.wide_class(14) | self.exception(14, ''), 'needs a number of members and a reason')

    def test_an_exception_that_nothing_needs_is_found(self):
        self.assert_only_finding(self.wide_class(12) | self.exception(14), 'no class Wide has more than 12 data members')

    # --- heads ---

    def test_a_header_without_an_opening_sentence_is_found(self):
        self.assert_only_finding({'core/base/more.h': '#pragma once\n'}, 'does not open with a sentence')

    def test_an_opening_word_is_not_a_sentence(self):
        self.assert_only_finding({'core/base/more.h': '// Utilities\n#pragma once\n'}, 'is not a sentence')

    def test_a_namespace_of_another_folder_is_found(self):
        self.assert_only_finding(self.header('namespace ringwright::base {\n}\n'), 'should be in ringwright')
        self.assertEqual(self.findings(self.header('namespace ringwright {\nnamespace {\n}\n}\n')), [])

    def test_a_long_line_is_found(self):
        line = 'int f(int {}, int second);\n'
        self.assert_only_finding(self.header(line.format('x' * 97)), 'has 121 columns')
        self.assertEqual(self.findings(self.header(line.format('x' * 96))), [])
        self.assertEqual(self.findings({'tests/core/base/more_test.cc': 'const auto kText = R"(\n' + 'x' * 130 + '\n)";\n'}), [])

    def test_a_test_shares_no_namespace_with_another(self):
        test = 'namespace ringwright%s {\nnamespace {\nTEST(Units, Load) {}\n}\n}\n'
        self.assert_only_finding({'tests/core/base/more_test.cc': test % ''}, 'ends with ::more_test')
        self.assertEqual(self.findings({'tests/core/base/more_test.cc': test % '::more_test'}), [])
        self.assert_only_finding({'tests/core/base/more_test.cc': test % '::more_test',
                                  'tests/core/engine/more_test.cc': test % '::more_test'}, 'one of its own')

    # --- banned ---

    def test_banned_things_are_found(self):
        for line, expected in [
                ('using namespace ringwright;\n', 'using namespace in a header'),
                ('inline void f(float x);\n', 'float is banned'),
                ('void f(std::shared_ptr<int> x);\n', 'shared_ptr is banned'),
                ('inline int* f() { return new int(3); }\n', 'raw new is banned'),
                ('inline bool f(double x) { return x == 0.0; }\n', '== on a double is banned'),
                ('inline void f() { std::exit(1); }\n', 'exit is banned'),
                ('inline void f() { std::cout << 1; }\n', 'printing is banned'),
                ('inline void f() { printf("%d", 1); }\n', 'printing is banned'),
                ('#define TWICE(x) (2 * (x))\n', 'a macro is banned'),
                ('inline auto f(V v) { return v | std::views::reverse; }\n', 'range views is banned'),
                ('#include <source_location>\n', '<source_location> is banned'),
                ('// TO' 'DO: think\n', 'a promise of later work'),
                ('// total = total + 1;\n', 'commented-out code'),
                ('// }\n', 'commented-out code'),
                ('int counter = 0;\n', 'a mutable global'),
                ('static std::vector<int> cache;\n', 'a mutable global'),
                ('inline int f() {\n  static int calls = 0;\n  return ++calls;\n}\n', 'a mutable static')]:
            with self.subTest(line):
                self.assert_only_finding(self.header(line), expected)

    def test_words_in_strings_and_comments_are_not_code(self):
        self.assertEqual(self.findings(self.header(
            '// A float would not do; std::cout neither.\ninline const char* f() { return "float x = 0.0 == printf("; }\n')), [])

    def test_constants_and_declarations_are_not_mutable_globals(self):
        self.assertEqual(self.findings(self.header(
            'inline constexpr int kOne = 1;\nconst std::string_view kName = "x";\nusing Row = int;\nstruct Later;\n'
            'int twice(int value);\nclass A {\n  int member_ = 0;\n  static int count();\n};\n'
            'inline int f() {\n  static constexpr int kTwo = 2;\n  return kTwo;\n}\n')), [])

    def test_an_example_in_a_comment_is_not_commented_out_code(self):
        self.assertEqual(self.findings(self.header('//     fabric.add_link({.from = leaf, .to = spine});\n')), [])

    def test_std_function_is_banned_only_where_it_costs(self):
        self.assertEqual(self.findings(self.header('void f(std::function<void()> x);\n')), [])
        self.assert_only_finding({'network_models/model.h': '// A model of wires.\nvoid f(std::function<void()> x);\n'},
                                 'std::function is banned')

    def test_tools_may_print(self):
        self.assertEqual(self.findings({'tools/main.cc': '// The command line of it all.\nint main() { std::cout << 1; }\n'}), [])

    # --- unused files ---

    def test_a_plugin_that_no_table_names_is_found(self):
        self.assert_only_finding({'collectives/steps/bruck.cc': '// Bruck: log steps, by rotation.\n'},
                                 'no builtin table of collectives names "bruck"')

    def test_a_second_source_of_a_class_is_no_plugin(self):
        self.assertEqual(self.findings({'network_models/flow.h': '// Flows that share links.\n',
                                        'network_models/flow_queue.cc': '// When flows of flow.h end.\n'}), [])

    def test_a_subcommand_that_main_does_not_name_is_found(self):
        self.assert_only_finding({'tools/studies/main.cc': '// The table of commands.\nint main() { return make_run(); }\n',
                                  'tools/run.cc': '// The command that runs.\n',
                                  'tools/sweep.cc': '// The command that sweeps.\n'}, 'does not name "sweep"')

    def test_a_constant_that_hides_a_shared_one_is_found(self):
        self.assert_only_finding({'core/base/limits.h': '// Limits of all.\n#pragma once\nconstexpr int kMostLinks = 8;\n',
                                  'core/engine/engine.cc': '#include "core/engine/engine.h"\n\nnamespace ringwright {\n'
                                                           'namespace {\nconstexpr int kMostLinks = 4;\n}\n}\n'},
                                 'core/engine/engine.cc:5: kMostLinks hides the constant of core/base/limits.h')

    def test_two_types_of_one_name_in_one_library_are_found(self):
        view = '// A view of something.\n#pragma once\nstruct View {\n  int a;\n};\n'
        self.assert_only_finding({'network_models/flow_view.h': view, 'network_models/link_view.h': view},
                                 'network_models/link_view.h:3: View is the name of a type in network_models/flow_view.h')
        self.assertEqual(self.findings({'network_models/flow_view.h': view, 'collectives/call_view.h': view}), [])

    def test_constants_of_classes_and_of_other_libraries_hide_nothing(self):
        self.assertEqual(self.findings({
            'network_models/flow.h': '// Flows that share links.\nconstexpr int kMostFlows = 8;\n',
            'collectives/cost.h': '// Costs of calls.\nstruct Cost {\n  static constexpr int kMostCalls = 8;\n};\n',
            'collectives/builtin.cc': '// The table of collective algorithms.\n#include "core/base/units.h"\nint make_ring();\n'
                                      'constexpr int kMostFlows = 1, kMostCalls = 2;\n'}), [])

    def test_a_preset_that_no_test_loads_is_found(self):
        self.assert_only_finding({'configs/nodes/dgx.yaml': 'name: dgx\n'}, 'configs/nodes/dgx.yaml:1: no test loads this file')

    def test_a_test_that_walks_through_a_folder_loads_its_files(self):
        self.assertEqual(self.findings({
            'configs/nodes/dgx.yaml': 'name: dgx\n',
            'tests/all_test.cc': 'for (auto f : std::filesystem::directory_iterator(share + "/nodes")) load(f);\n'}), [])

    def test_a_path_of_some_machine_is_found(self):
        self.assert_only_finding({'README.md': 'Look into /ho' 'me/me/data for more.\n'}, 'names a path of some machine')


class CppSourceTest(unittest.TestCase):
    def members(self, text):
        return [(entry.name, entry.members) for entry in CppSource(text).classes()]

    def test_members_of_a_class_are_declarations_of_its_own(self):
        self.assertEqual(self.members('enum class Kind : int { kOne };\ntemplate <class Item>\nclass Outer : public Base {\n'
                                      '  explicit Outer(int a_) : a_(a_), list_{1} {}\n  int a_;\n  int b() { int c_ = a_; }\n'
                                      '  std::array<int, 2> list_ = {1, 2};\n  int rows_[2];\n'
                                      '  struct Inner {\n    int inner_ = 0;\n  };\n  Inner d_{};\n};\n'),
                         [('Outer', ['a_', 'list_', 'rows_', 'd_'])])

    def test_a_class_inside_a_class_counts_for_itself(self):
        self.assertEqual(self.members('class A {\n  class B {\n    int b_;\n  };\n  B a_;\n};\nclass C;\n'),
                         [('A', ['a_']), ('B', ['b_'])])

    def lengths(self, text):
        return [(function.name, function.length) for function in CppSource(text).functions()]

    def test_members_constructors_and_tests_are_functions(self):
        self.assertEqual(self.lengths('class A {\n public:\n  A() : b_(1) {\n  }\n  int get() const { return b_; }\n};\n'
                                      'TEST(A, Works) {\n  run([](int x) {\n    return x;\n  });\n}\n'),
                         [('A', 2), ('get', 1), ('TEST(A, Works)', 5)])

    def test_tables_are_not_functions(self):
        self.assertEqual(self.lengths('constexpr std::array kTable = {Row{"a", f(1)},\n Row{"b", f(2)}};\n'), [])

    def test_default_arguments_with_braces_do_not_hide_the_function(self):
        self.assertEqual(self.lengths('int f(Options o = {}, int b = 2) {\n  return b;\n}\n'), [('f', 3)])

    def test_braces_in_strings_characters_and_raw_strings_do_not_count(self):
        self.assertEqual(self.lengths('void f() {\n  g("{", \'{\', R"(\n{{{\n)", 1\'000);\n}\nint h() { return 1; }\n'),
                         [('f', 5), ('h', 1)])


if __name__ == '__main__':
    unittest.main()
