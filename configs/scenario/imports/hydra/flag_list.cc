#include "configs/scenario/imports/hydra/flag_list.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "configs/scenario/imports/megatron/megatron_tree.h"

namespace ringwright::configs {
namespace {

// What a key is where its effect is off.
bool is_off(const KeyRow& row, const HydraValue& value) {
  if (value.kind == HydraKind::kNothing) return true;
  return value.kind == HydraKind::kWord && (switch_of(value.word.text) == false || value.word.text == row.off);
}

}  // namespace

void FlagList::put(MegatronFlag flag, const HydraKey& key) {
  names_.insert_or_assign(flag.name, key.path);
  std::string name = flag.name;
  flags_.insert_or_assign(std::move(name), std::move(flag));
}

void FlagList::give(std::string_view flag, const HydraKey& key) {
  HydraValue value = value_of(key);
  if (value.kind == HydraKind::kNothing) return;
  if (value.kind == HydraKind::kMap) return error(key, fmt::format("{} is a map; a value is expected", key.path));
  MegatronFlag given{.name = std::string(flag), .at = word_of_key(key), .values = std::move(value.items)};
  if (given.values.empty()) given.values.push_back(std::move(value.word));
  put(std::move(given), key);
}

void FlagList::give(std::string_view flag, const HydraKey& key, std::string text) {
  MegatronWord word = value_of(key).word;
  if (key.node == nullptr || word.length == 0) word = word_of_key(key);
  word.text = std::move(text);
  word.resolved = true;
  put({.name = std::string(flag), .at = word_of_key(key), .values = {std::move(word)}}, key);
}

void FlagList::turn_on(std::string_view flag, const HydraKey& key) {
  put({.name = std::string(flag), .at = word_of_key(key), .values = {}}, key);
}

void FlagList::assume(std::string_view flag, std::string text) {
  MegatronFlag given{.name = std::string(flag), .at = {.text = {}, .line = 0, .column = 0}, .values = {}};
  if (!text.empty()) given.values.push_back({.text = std::move(text), .line = 0, .column = 0});
  flags_.emplace(std::string(flag), std::move(given));
}

void FlagList::take_row(const KeyRow& row, const HydraKey& key) {
  switch (row.meaning) {
    case KeyMeaning::kValue: return give(flag_of(row), key);
    case KeyMeaning::kSwitch:
      if (is_on(key)) turn_on(flag_of(row), key);
      return;
    case KeyMeaning::kUnless:
      if (read_switch(key) == false) turn_on(flag_of(row), key);
      return;
    case KeyMeaning::kUnmodelled:
      if (is_off(row, value_of(key))) return;
      return warn(key, "W136", fmt::format("{} is not modelled: {}", key.path, row.flag));
    case KeyMeaning::kTogether:
    case KeyMeaning::kIdle: return;
  }
}

bool FlagList::is_known(const HydraKey& key) {
  const MegatronWord word = value_of(key).word;
  if (word.resolved) return true;
  error(key, fmt::format("the value of {} is {}, which this file does not set", key.path, word.text),
        "write the value, or a default: ${oc.env:NAME,8}");
  return false;
}

std::optional<bool> FlagList::read_switch(const HydraKey& key) {
  const HydraValue value = value_of(key);
  if (value.kind == HydraKind::kNothing || !is_known(key)) return std::nullopt;
  const auto on = value.kind == HydraKind::kWord ? switch_of(value.word.text) : std::nullopt;
  if (!on) error(key, fmt::format("{} is '{}'; true or false is expected", key.path, value.word.text));
  return on;
}

std::optional<std::int64_t> FlagList::read_number(const HydraKey& key) {
  const HydraValue value = value_of(key);
  if (value.kind == HydraKind::kNothing || !is_known(key)) return std::nullopt;
  const auto number = parse_whole(value.word.text);
  constexpr std::int64_t kLargest = 1'000'000'000'000;
  if (number && *number <= kLargest && *number >= -kLargest) return number;
  error(key, fmt::format("{} is '{}', which is not a whole number{}", key.path, value.word.text,
                         number ? " of a possible size" : ""));
  return std::nullopt;
}

void FlagList::warn(const HydraKey& key, std::string code, std::string message, std::string hint) {
  Diagnostic found = at_word(source_, word_of_key(key), std::move(code), std::move(message), std::move(hint));
  found.severity = Severity::kWarning;
  problems_.add(std::move(found));
}

void FlagList::warn_unknown(const HydraKey& key, std::string_view near) {
  const std::string guess = near.empty() ? std::string() : fmt::format("; did you mean {}?", near);
  warn(key, "W135", fmt::format("{} is unknown and left out{}", key.path, guess));
}

void FlagList::error(const HydraKey& key, std::string message, std::string hint) {
  const MegatronWord word = value_of(key).word;
  Diagnostic found =
      at_word(source_, word.text.empty() ? word_of_key(key) : word, "E144", std::move(message), std::move(hint));
  const auto same = [&](const Diagnostic& other) { return other.message == found.message; };
  if (std::ranges::none_of(problems_.all(), same)) problems_.add(std::move(found));
}

void FlagList::name(const KeySection& section) {
  for (const KeyRow& row : section.rows) {
    if (row.meaning == KeyMeaning::kUnmodelled || row.meaning == KeyMeaning::kIdle) continue;
    names_.emplace(flag_of(row), fmt::format("{}.{}", section.name, row.name));
  }
  if (section.base != nullptr) name(*section.base);
}

MegatronText FlagList::take(MegatronSpelling spelling) {
  MegatronText text{.spelling = spelling, .flags = {}, .variables = {}, .names = std::move(names_)};
  for (auto& [name, flag] : flags_) text.flags.push_back(std::move(flag));
  return text;
}

}  // namespace ringwright::configs
