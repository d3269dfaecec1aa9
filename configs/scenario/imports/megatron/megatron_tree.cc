#include "configs/scenario/imports/megatron/megatron_tree.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace ringwright::configs {
namespace {

ConfigSource source_of_defaults(std::string name) {
  return {.name = std::move(name), .kind = SourceKind::kPreset, .path = {}, .lines = {}};
}

const ConfigSource& default_source(MegatronSpelling spelling) {
  static const ConfigSource kMegatron = source_of_defaults("Megatron's default");
  static const ConfigSource kBridge = source_of_defaults("Megatron-Bridge's default");
  static const ConfigSource kNemo = source_of_defaults("NeMo's default");
  if (!is_of_keys(spelling)) return kMegatron;
  return spelling == MegatronSpelling::kBridge ? kBridge : kNemo;
}

bool is_of_flag(char c) {
  return c == '-' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool is_nothing(const MegatronFlag& flag) {
  if (flag.values.empty()) return false;
  const std::string& text = flag.values.front().text;
  return text == "None" || text == "False" || text == "false" || text == "null";
}

}  // namespace

std::optional<std::int64_t> parse_whole(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

MegatronArguments::MegatronArguments(MegatronText text, const ConfigSource& source, Diagnostics& problems)
    : text_(std::move(text)), source_(source), problems_(problems) {
  const auto first_value = [](const MegatronFlag& flag) {
    return flag.values.empty() ? std::string() : flag.values.front().text;
  };
  for (MegatronFlag& flag : text_.flags) {
    const auto known = flags_.find(flag.name);
    if (known == flags_.end()) {
      flags_.emplace(flag.name, flag);
      continue;
    }
    if (first_value(known->second) != first_value(flag)) {
      warn(flag.at, "W135",
           fmt::format("--{} is given twice: '{}' (line {}) and '{}'; the last one counts", flag.name,
                       first_value(known->second), known->second.at.line, first_value(flag)));
    }
    known->second = flag;
  }
}

void MegatronArguments::warn(const MegatronWord& word, std::string code, std::string message, std::string hint) const {
  Diagnostic diagnostic = at_word(source_, word, std::move(code), as_written(message), as_written(hint));
  diagnostic.severity = Severity::kWarning;
  problems_.add(std::move(diagnostic));
}

void MegatronArguments::error(const MegatronWord& word, std::string message, std::string hint) const {
  std::string written = as_written(message);
  // A value is read several times, its mistake reported once.
  if (std::ranges::find(problems_.all(), written, &Diagnostic::message) != problems_.all().end()) return;
  problems_.add(at_word(source_, word, "E144", std::move(written), as_written(hint)));
}

std::string MegatronArguments::as_written(std::string_view message) const {
  if (!is_of_keys(text_.spelling)) return std::string(message);
  std::string result;
  while (!message.empty()) {
    const std::size_t dashes = std::min(message.find("--"), message.size());
    result += message.substr(0, dashes);
    message.remove_prefix(std::min(dashes + 2, message.size()));
    const auto end = std::ranges::find_if_not(message, is_of_flag);
    std::string flag(message.begin(), end);
    message.remove_prefix(flag.size());
    const auto name = text_.names.find(flag);
    if (name == text_.names.end()) std::ranges::replace(flag, '-', '_');
    result += name == text_.names.end() ? flag : name->second;
  }
  return result;
}

bool MegatronArguments::has(std::string_view name) const {
  const auto found = flags_.find(name);
  return found != flags_.end() && !is_nothing(found->second);
}

std::optional<MegatronWord> MegatronArguments::value(std::string_view name) const {
  if (!has(name)) return std::nullopt;
  const MegatronFlag& given = flag(name);
  if (given.values.empty()) {
    error(given.at, fmt::format("--{} has no value", name));
    return std::nullopt;
  }
  const MegatronWord& word = given.values.front();
  if (!word.resolved) {
    error(word, fmt::format("the value of --{} is {}, which this file does not set", name, word.text),
          is_of_keys(text_.spelling) ? "write the value, or a default: ${oc.env:NAME,8}"
                                     : "write the value, or set the variable above");
    return std::nullopt;
  }
  return word;
}

std::optional<std::int64_t> MegatronArguments::number(std::string_view name) const {
  const auto word = value(name);
  if (!word) return std::nullopt;
  const auto number = parse_whole(word->text);
  if (!number) error(*word, fmt::format("--{} is '{}', which is not a whole number", name, word->text));
  constexpr std::int64_t kLargest = 1'000'000'000'000;  // products of several sizes fit into 64 bits
  if (number && (*number > kLargest || *number < -kLargest)) {
    error(*word, fmt::format("--{} is {}, beyond any size that can be meant", name, word->text));
    return std::nullopt;
  }
  return number;
}

std::optional<MegatronWord> MegatronArguments::variable(const std::string& name) const {
  const auto found = text_.variables.find(name);
  if (found == text_.variables.end() || !found->second.resolved || !parse_whole(found->second.text))
    return std::nullopt;
  return found->second;
}

MegatronTree::MegatronTree(const ConfigSource& source, MegatronSpelling spelling)
    : source_(source), defaults_(default_source(spelling)) {
  root_.kind = ConfigKind::kMap;
  root_.source = &source;
  root_.line = root_.column = 1;
}

// Missing maps along the path are created.
ConfigNode& MegatronTree::at(std::string_view path) {
  ConfigNode* node = &root_;
  while (true) {
    const auto dot = path.find('.');
    const std::string key(path.substr(0, dot));
    ConfigEntry* entry = find_entry(*node, key);
    if (entry == nullptr) {
      ConfigNode made;
      made.kind = ConfigKind::kMap;
      made.source = &source_;
      made.line = made.column = 1;
      node->entries.push_back({.key = key, .value = std::move(made)});
      entry = &node->entries.back();
    }
    node = &entry->value;
    if (dot == std::string_view::npos) return *node;
    path.remove_prefix(dot + 1);
  }
}

namespace {

ConfigNode scalar(const ConfigSource& source, const MegatronWord& word, std::string text) {
  ConfigNode node;
  node.kind = ConfigKind::kScalar;
  node.text = std::move(text);
  node.source = &source;
  node.line = node.key_line = word.line;
  node.column = node.key_column = word.column;
  node.length = node.key_length = word.length;
  return node;
}

}  // namespace

void MegatronTree::set(std::string_view path, const MegatronWord& word, std::string text) {
  at(path) = scalar(word.line == 0 ? defaults_ : source_, word, std::move(text));
}

void MegatronTree::set_list(std::string_view path, const std::vector<MegatronWord>& words) {
  ConfigNode list = scalar(words.front().line == 0 ? defaults_ : source_, words.front(), {});
  list.kind = ConfigKind::kList;
  for (const MegatronWord& word : words) list.items.push_back(scalar(source_, word, word.text));
  at(path) = std::move(list);
}

void MegatronTree::assume(std::string_view path, std::string text) {
  at(path) = scalar(defaults_, {.text = {}, .line = 0, .column = 0}, std::move(text));
}

namespace {

void erase_of(const ConfigSource& source, ConfigNode& map) {
  for (ConfigEntry& entry : map.entries) erase_of(source, entry.value);
  std::erase_if(map.entries, [&](const ConfigEntry& entry) {
    const bool emptied = entry.value.kind == ConfigKind::kMap && entry.value.entries.empty();
    return emptied || entry.value.source == &source;
  });
}

}  // namespace

void MegatronTree::leave_out_assumptions() {
  erase_of(defaults_, root_);
}

}  // namespace ringwright::configs
