#include "configs/scenario/imports/hydra/hydra_value.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace ringwright::configs {
namespace {

constexpr std::string_view kTarget = "_target_";

struct Renamed {
  std::string_view theirs, ours;
};

// As str(torch.dtype) writes them, without "torch." in early versions of Megatron-Bridge.
constexpr std::array kTypes{Renamed{"float32", "fp32"}, Renamed{"float", "fp32"}, Renamed{"bfloat16", "bf16"},
                            Renamed{"float16", "fp16"}, Renamed{"half", "fp16"},  Renamed{"uint8", "fp8"}};
// megatron/core/transformer/enums.py: AttnBackend counts from 1.
constexpr std::array<std::string_view, 5> kBackends{"flash", "fused", "unfused", "local", "auto"};

std::string plain_word(const std::string& text) {
  constexpr std::string_view kTorch = "torch.";
  const std::string_view name = text.starts_with(kTorch) ? std::string_view(text).substr(kTorch.size()) : text;
  const auto* type = std::ranges::find(kTypes, name, &Renamed::theirs);
  return type == kTypes.end() ? text : std::string(type->ours);
}

MegatronWord word_at(const ConfigNode& node, std::string text) {
  const bool resolved = !is_unresolved(text);
  return {
      .text = std::move(text), .line = node.line, .column = node.column, .length = node.length, .resolved = resolved};
}

// The name of an enum's member, a dtype or a function; "" for maps of other kinds.
std::string dumped(const ConfigNode& map) {
  if (const ConfigEntry* name = find_entry(map, "_name_")) return name->value.text;
  const ConfigEntry* const target = find_entry(map, kTarget);
  if (target == nullptr) return {};
  const ConfigEntry* const arguments = find_entry(map, "_args_");
  if (target->value.text.ends_with(".AttnBackend") && arguments != nullptr && arguments->value.items.size() == 1) {
    const std::string& number = arguments->value.items.front().text;
    if (number.size() == 1 && number[0] >= '1' && number[0] <= '5') {
      return std::string(kBackends[static_cast<std::size_t>(number[0] - '1')]);
    }
  }
  return plain_word(target->value.text);
}

std::string text_of(const ConfigNode& node) {
  if (node.kind == ConfigKind::kScalar) return plain_word(node.text);
  if (node.kind == ConfigKind::kMap) return dumped(node);
  if (node.kind != ConfigKind::kList) return "None";
  std::string text;
  for (const ConfigNode& item : node.items) text += (text.empty() ? "" : ", ") + text_of(item);
  return "[" + text + "]";
}

}  // namespace

bool is_unresolved(std::string_view text) {
  return text.find("${") != std::string_view::npos || text == "???";
}

HydraValue value_of(const HydraKey& key) {
  if (key.node == nullptr) return {};
  const ConfigNode& node = *key.node;
  const bool none = node.kind == ConfigKind::kNull ||
                    (node.kind == ConfigKind::kScalar && !node.quoted && (node.text == "None" || node.text.empty()));
  const bool empty =
      (node.kind == ConfigKind::kList && node.items.empty()) || (node.kind == ConfigKind::kMap && node.entries.empty());
  if (none || empty) return {};
  HydraValue value{.kind = HydraKind::kWord, .word = word_at(node, text_of(node))};
  if (node.kind == ConfigKind::kList) {
    value.kind = HydraKind::kList;
    for (const ConfigNode& item : node.items) value.items.push_back(word_at(item, text_of(item)));
  }
  const bool named = find_entry(node, "_name_") != nullptr || find_entry(node, kTarget) != nullptr;
  if (node.kind == ConfigKind::kMap && !named) value.kind = HydraKind::kMap;
  return value;
}

bool is_given(const HydraKey& key) {
  return value_of(key).kind != HydraKind::kNothing;
}

MegatronWord word_of_key(const HydraKey& key) {
  if (key.node == nullptr) return {.text = key.path, .line = 0, .column = 0};
  const ConfigNode& node = *key.node;
  if (node.key_line == 0) return {.text = key.path, .line = node.line, .column = node.column, .length = node.length};
  return {.text = key.path, .line = node.key_line, .column = node.key_column, .length = node.key_length};
}

std::optional<bool> switch_of(std::string_view text) {
  std::string word(text);
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (word == "true" || word == "yes" || word == "on" || word == "1") return true;
  if (word == "false" || word == "no" || word == "off" || word == "0") return false;
  return std::nullopt;
}

const ConfigNode* map_below(const ConfigNode& map, std::string_view key) {
  const ConfigEntry* const entry = find_entry(map, key);
  return entry != nullptr && entry->value.kind == ConfigKind::kMap ? &entry->value : nullptr;
}

}  // namespace ringwright::configs
