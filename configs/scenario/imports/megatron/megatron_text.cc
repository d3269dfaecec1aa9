#include "configs/scenario/imports/megatron/megatron_text.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "configs/scenario/imports/megatron/megatron_flags.h"
#include "configs/scenario/imports/megatron/shell_words.h"

namespace ringwright::configs {
namespace {

std::string with_dashes(std::string name) {
  std::ranges::replace(name, '_', '-');
  return name;
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

MegatronWord word_at(std::string_view line, std::string_view part, std::size_t number) {
  return {.text = std::string(part),
          .line = static_cast<int>(number) + 1,
          .column = static_cast<int>(part.data() - line.data()) + 1,
          .length = std::max(1, static_cast<int>(part.size()))};
}

// "  tensor_model_parallel_size ...................... 8", also behind the prefix of a log ("0: ").
std::optional<MegatronFlag> read_argument(std::string_view line, std::size_t number) {
  const auto dots = line.find(" ...");
  if (dots == std::string_view::npos) return std::nullopt;
  std::string_view name = trimmed(line.substr(0, dots));
  if (const auto blank = name.find_last_of(" \t:"); blank != std::string_view::npos) name = name.substr(blank + 1);
  const auto value_at = line.find_first_not_of('.', dots + 1);
  const bool is_name =
      !name.empty() && std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  if (!is_name || value_at == std::string_view::npos || line[value_at] != ' ') return std::nullopt;
  const std::string_view value = trimmed(line.substr(value_at));
  if (value.empty()) return std::nullopt;
  MegatronFlag flag{.name = with_dashes(std::string(name)), .at = word_at(line, name, number), .values = {}};
  flag.values.push_back(word_at(line, value, number));
  return flag;
}

// Megatron-LM stores --no-rope-fusion as apply_rope_fusion, the others as what follows "no-".
std::string negative_of(std::string_view name) {
  return name == "apply-rope-fusion" ? "no-rope-fusion" : fmt::format("no-{}", name);
}

// A log prints such an argument as False where the flag was given, and as True where it was not.
std::optional<MegatronFlag> as_given(MegatronFlag flag) {
  const std::string& value = flag.values.front().text;
  if (value != "True" && value != "False") return flag;
  const FlagEntry* const negative = find_megatron_flag(negative_of(flag.name));
  const bool acts =
      negative != nullptr && (negative->meaning == FlagMeaning::kOff || negative->meaning == FlagMeaning::kRule);
  if (!acts || find_megatron_flag(flag.name) != nullptr) return flag;
  if (value == "True") return std::nullopt;
  flag.name = negative_of(flag.name);
  flag.values.clear();
  return flag;
}

MegatronText read_arguments(const std::vector<std::string>& lines) {
  MegatronText result{.spelling = MegatronSpelling::kArguments, .flags = {}};
  for (std::size_t number = 0; number < lines.size(); ++number) {
    auto flag = read_argument(lines[number], number);
    if (flag) flag = as_given(std::move(*flag));
    if (flag) result.flags.push_back(std::move(*flag));
  }
  return result;
}

std::string_view without_quotes(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// The sections of a test case are flat: one key and value on a line.
void read_entry(std::string_view line, std::size_t number, bool of_environment, MegatronText& result) {
  const std::string_view entry = trimmed(line);
  const auto colon = entry.find(':');
  if (entry.empty() || entry.front() == '#' || colon == std::string_view::npos) return;
  const std::string_view key = without_quotes(trimmed(entry.substr(0, colon)));
  std::string_view value = entry.substr(colon + 1);
  if (const auto comment = value.find(" #"); comment != std::string_view::npos) value = value.substr(0, comment);
  value = without_quotes(trimmed(value));
  if (of_environment) {
    if (!value.empty()) result.variables[std::string(key)] = word_at(line, value, number);
    return;
  }
  if (!key.starts_with("--")) return;
  MegatronFlag flag{.name = with_dashes(std::string(key.substr(2))), .at = word_at(line, key, number), .values = {}};
  if (!value.empty()) flag.values.push_back(word_at(line, value, number));
  result.flags.push_back(std::move(flag));
}

MegatronText read_test_case(const std::vector<std::string>& lines) {
  MegatronText result{.spelling = MegatronSpelling::kTestCase, .flags = {}};
  std::string_view section;
  for (std::size_t number = 0; number < lines.size(); ++number) {
    const std::string_view line = lines[number];
    if (line.empty() || line.front() == '#') continue;
    if (line.front() != ' ' && line.front() != '\t') {
      section = line.substr(0, line.find(':'));
    } else if (section == "MODEL_ARGS" || section == "ENV_VARS") {
      read_entry(line, number, section == "ENV_VARS", result);
    }
  }
  return result;
}

MegatronText read_shell(const std::vector<std::string>& lines) {
  ShellText shell = read_shell_words(lines);
  MegatronText result{.spelling = MegatronSpelling::kShell, .flags = {}, .variables = std::move(shell.variables)};
  MegatronFlag* open = nullptr;  // takes the values that follow
  for (const ShellItem& item : shell.items) {
    if (item.kind == ShellItem::Kind::kEnd) {
      open = nullptr;
      continue;
    }
    const MegatronWord& word = item.word;
    if (word.text.starts_with("--") && word.text.size() > 2) {
      const auto equals = word.text.find('=');
      result.flags.push_back({.name = with_dashes(word.text.substr(2, equals - 2)), .at = word, .values = {}});
      open = &result.flags.back();
      if (equals == std::string::npos) continue;
      MegatronWord value = word;
      value.text = word.text.substr(equals + 1);
      open->values.push_back(std::move(value));
      open = nullptr;
    } else if (open != nullptr) {
      open->values.push_back(word);
    }
  }
  return result;
}

bool is_test_case(const std::vector<std::string>& lines) {
  return std::ranges::any_of(lines, [](const std::string& line) { return line.starts_with("MODEL_ARGS:"); });
}

bool is_arguments(const std::vector<std::string>& lines) {
  int found = 0;
  for (std::size_t i = 0; i < lines.size() && found < 3; ++i) found += read_argument(lines[i], i) ? 1 : 0;
  return found == 3;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

MegatronText read_megatron_text(std::string_view text, ConfigSource& source, Diagnostics& problems) {
  source.lines = lines_of(text);
  MegatronText result = is_test_case(source.lines)   ? read_test_case(source.lines)
                        : is_arguments(source.lines) ? read_arguments(source.lines)
                                                     : read_shell(source.lines);
  if (result.flags.empty()) {
    problems.add(
        {.code = "E144",
         .place = {.file = source.name},
         .message = "it contains no Megatron flag",
         .hint = "a shell script with --flags, the arguments that a log prints, a test case with MODEL_ARGS, or a "
                 "configuration of Megatron-Bridge or NeMo"});
  }
  return result;
}

Diagnostic at_word(const ConfigSource& source, const MegatronWord& word, std::string code, std::string message,
                   std::string hint) {
  ConfigNode node;
  node.source = &source;
  node.line = word.line;
  node.column = word.column;
  node.length = word.length;
  return at_value(node, std::move(code), std::move(message), std::move(hint));
}

}  // namespace ringwright::configs
