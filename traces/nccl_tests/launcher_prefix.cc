#include "traces/nccl_tests/launcher_prefix.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "traces/input/log_text.h"
#include "traces/nccl_tests/text_lines.h"

namespace ringwright::traces {
namespace {

constexpr char kEscape = '\x1b';

bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// Without "ESC [ ... letter".
std::string without_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != kEscape) {
      plain += text[i];
      continue;
    }
    if (i + 1 >= text.size() || text[i + 1] != '[') continue;
    ++i;
    while (i + 1 < text.size() && text[i + 1] != '\n' && (text[i + 1] < '@' || text[i + 1] > '~')) ++i;
    if (i + 1 < text.size() && text[i + 1] != '\n') ++i;
  }
  return plain;
}

// "#  size  count ... time ...": names the columns of the test's table.
bool is_heading(std::string_view line) {
  const auto words = words_of(line);
  const auto has = [&words](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
  return has("size") && (has("time") || has("cputime"));
}

std::string_view prefix_of_heading(std::string_view text) {
  std::string_view prefix;
  for_each_line(text, [&](std::string_view line, bool) {
    const std::size_t mark = line.find('#');
    if (mark == std::string_view::npos || !is_heading(line.substr(mark))) return true;
    prefix = line.substr(0, mark);
    return false;
  });
  return prefix;
}

template <class Belongs>
std::size_t skip(std::string_view text, std::size_t at, Belongs&& belongs) {
  while (at < text.size() && belongs(text[at])) ++at;
  return at;
}

// The length of the line's beginning that has the form of `prefix`: a number for a number, blanks for blanks.
std::optional<std::size_t> length_of(std::string_view prefix, std::string_view line) {
  std::size_t at = skip(line, 0, is_blank);
  for (std::size_t i = skip(prefix, 0, is_blank); i < prefix.size();) {
    if (is_blank(prefix[i])) {
      i = skip(prefix, i, is_blank);
      at = skip(line, at, is_blank);
    } else if (at >= line.size()) {
      return std::nullopt;
    } else if (is_decimal(prefix[i])) {
      if (!is_decimal(line[at])) return std::nullopt;
      i = skip(prefix, i, is_decimal);
      at = skip(line, at, is_decimal);
    } else {
      if (prefix[i] != line[at]) return std::nullopt;
      ++i;
      ++at;
    }
  }
  return at;
}

}  // namespace

std::string as_printed(std::string_view text) {
  const std::string plain = without_escapes(text);
  const std::string_view prefix = prefix_of_heading(plain);
  if (trimmed(prefix).empty()) return plain;
  std::string lines;
  for_each_line(plain, [&](std::string_view line, bool ended) {
    lines += line.substr(length_of(prefix, line).value_or(0));
    if (ended) lines += '\n';
    return true;
  });
  return lines;
}

}  // namespace ringwright::traces
