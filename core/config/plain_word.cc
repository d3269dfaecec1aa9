#include "core/config/plain_word.h"

#include <algorithm>

#include "core/config/text_lines.h"

namespace ringwright {
namespace {

constexpr std::string_view kEmptyMap = "{}";

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

bool is_plain_word(std::string_view text) {
  if (text == kEmptyMap) return true;
  if (text.empty() || !is_alphanumeric(text.front()) || !is_alphanumeric(text.back())) return false;
  if (text == "null" || text == "Null" || text == "NULL") return false;
  return std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || c == '-' || c == '.' || c == '_'; });
}

ConfigNode plain_word(std::string_view text, std::size_t offset, const ConfigSource& source) {
  ConfigNode node;
  node.source = &source;
  node.line = 1;
  node.column = static_cast<int>(characters_before(source.lines.front(), offset)) + 1;
  if (text == kEmptyMap) {
    node.kind = ConfigKind::kMap;
    return node;
  }
  node.kind = ConfigKind::kScalar;
  node.text = text;
  node.length = static_cast<int>(text.size());
  return node;
}

}  // namespace ringwright
