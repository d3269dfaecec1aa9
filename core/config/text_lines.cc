#include "core/config/text_lines.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace ringwright {
namespace {

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0U) == 0x80U;
}

// Bytes of the UTF-8 character that starts here, or 0 (RFC 3629: no overlong forms, no surrogates, up to U+10FFFF).
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(static_cast<unsigned char>(byte(i)))) return 0;
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool surrogate = first == 0xED && byte(1) >= 0xA0;
  const bool too_large = first == 0xF4 && byte(1) >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

}  // namespace

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.substr(0, kMark.size()) == kMark ? text.substr(kMark.size()) : text;
}

bool is_utf16(std::string_view text) {
  if (text.size() < 4) return false;
  const std::string_view mark = text.substr(0, 2);
  if (mark == "\xFF\xFE") return text[2] != '\0' && text[3] == '\0';
  return mark == "\xFE\xFF" && text[2] == '\0' && text[3] != '\0';
}

std::vector<std::string> split_lines(std::string_view text) {
  text = without_byte_order_mark(text);
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::optional<std::size_t> first_bad_byte(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool control = (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F;
    const std::size_t length = control ? 0 : character_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

std::size_t characters_before(std::string_view line, std::size_t bytes) {
  const std::string_view head = line.substr(0, std::min(bytes, line.size()));
  return static_cast<std::size_t>(
      std::count_if(head.begin(), head.end(), [](char c) { return !is_continuation(static_cast<unsigned char>(c)); }));
}

std::size_t byte_of_character(std::string_view line, std::size_t character) {
  std::size_t byte = 0;
  for (std::size_t seen = 0; byte < line.size(); ++byte) {
    if (is_continuation(static_cast<unsigned char>(line[byte]))) continue;
    if (seen++ == character) break;
  }
  return byte;
}

std::string join_surrogates(std::string_view text) {
  const auto unit_at = [&](std::size_t at) -> unsigned {
    unsigned value = 0;
    if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return 0;
    const char* first = text.data() + at + 2;
    return std::from_chars(first, first + 4, value, 16).ptr == first + 4 ? value : 0;
  };
  std::string joined;
  for (std::size_t at = 0; at < text.size();) {
    const unsigned high = unit_at(at);
    const unsigned low = unit_at(at + 6);
    if (high >= 0xD800 && high < 0xDC00 && low >= 0xDC00 && low < 0xE000) {
      joined += fmt::format("\\U{:08X}", 0x10000 + ((high - 0xD800) << 10U) + (low - 0xDC00));
      at += 12;
      continue;
    }
    const std::size_t length = text[at] == '\\' ? 2 : 1;  // an escaped backslash does not begin another escape
    joined += text.substr(at, length);
    at += length;
  }
  return joined;
}

}  // namespace ringwright
