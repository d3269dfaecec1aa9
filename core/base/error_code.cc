#include "core/base/error_code.h"

#include <algorithm>

#include <fmt/format.h>

namespace ringwright {
namespace {

char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

std::string indented(std::string_view text) {
  std::string result = "    ";
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "    ";
  }
  return result;
}

}  // namespace

std::string explain_error(std::span<const std::span<const ErrorCode>> tables, std::string_view code) {
  const auto same = [&](const ErrorCode& row) {
    return std::equal(row.code.begin(), row.code.end(), code.begin(), code.end(),
                      [](char a, char b) { return a == upper(b); });
  };
  for (const auto& table : tables) {
    const auto row = std::find_if(table.begin(), table.end(), same);
    if (row == table.end()) continue;
    return fmt::format("{}: {}\n\n{}\n\nFor example\n\n{}\n", row->code, row->title, row->explanation,
                       indented(row->example));
  }
  return {};
}

}  // namespace ringwright
