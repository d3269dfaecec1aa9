#include "core/config/key_effect.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/config/scalar.h"

namespace ringwright {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Takes the text before the separator off the front.
std::string_view take_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

// As many words of the path as the row has: the key or map that is without effect as a whole.
std::string part_of(std::string_view path, std::string_view pattern) {
  auto words = 1 + std::ranges::count(pattern, '.');
  std::size_t end = 0;
  while (words-- > 0 && end != std::string_view::npos) end = path.find('.', end == 0 ? 0 : end + 1);
  return std::string(path.substr(0, end));
}

std::string reason_of(const KeyEffect& effect) {
  return std::string(effect.partly ? kInPart : std::string_view()) + std::string(effect.why);
}

// "faults[]" matches "faults[2]".
bool same_word(std::string_view pattern, std::string_view word) {
  if (pattern == "*" || pattern == word) return true;
  return pattern.ends_with("[]") && word.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace

SettingValues::SettingValues(const ConfigLog& log) {
  for (const ValueRead& value : log.values()) add(value.path, value.canonical);
}

// A path that nobody read has no value: it equals nothing, and is not above anything.
bool SettingValues::holds_term(std::string_view term) const {
  const std::size_t at = term.find_first_of("!=>");
  CHECK(at != std::string_view::npos, term);
  const bool differs = term[at] == '!';
  const std::string_view wanted = trimmed(term.substr(at + (differs ? 2 : 1)));
  const auto found = values_.find(trimmed(term.substr(0, at)));
  if (found == values_.end()) return differs;
  if (term[at] != '>') return (found->second == wanted) != differs;
  const auto value = read_number(found->second);
  const auto bound = read_number(wanted);
  return value && bound && *value > *bound;
}

bool SettingValues::holds(std::string_view needs) const {
  while (!needs.empty()) {
    std::string_view alternative = take_part(needs, '|');
    bool all = true;
    while (!alternative.empty() && all) all = holds_term(trimmed(take_part(alternative, '&')));
    if (all) return true;
  }
  return false;
}

bool is_given(const ValueRead& value) {
  return value.origin != "default" && !value.origin.starts_with("preset:");
}

bool speaks_about(const KeyEffect& effect, std::string_view path) {
  if (path == effect.except) return false;
  std::string_view pattern = effect.keys;
  while (!pattern.empty()) {
    if (path.empty() || !same_word(take_part(pattern, '.'), take_part(path, '.'))) return false;
  }
  return true;
}

void list_without_effect(std::span<const KeyEffect> effects, const SettingValues& values, ConfigLog& log) {
  std::vector<const KeyEffect*> idle;
  for (const KeyEffect& effect : effects) {
    if (!values.holds(effect.needs)) idle.push_back(&effect);
  }
  for (const ValueRead& value : log.values()) {
    if (!is_given(value)) continue;
    const auto effect = std::ranges::find_if(idle, [&](const KeyEffect* e) { return speaks_about(*e, value.path); });
    if (effect == idle.end()) continue;
    log.add(IgnoredKey{.path = part_of(value.path, (*effect)->keys),
                       .origin = value.origin,
                       .why = reason_of(**effect)});
  }
}

}  // namespace ringwright
