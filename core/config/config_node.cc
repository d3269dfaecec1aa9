#include "core/config/config_node.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace ringwright {
namespace {

constexpr std::size_t kSummaryLength = 60;
constexpr int kExcerptLength = 160;

// The head of a text and "...", never cut inside a multi-byte character.
std::string cut(std::string_view text, std::size_t length) {
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) --length;
  return std::string(text.substr(0, length)) + "...";
}

bool is_provenance_key(std::string_view key) {
  return key == "value" || key == "evidence" || key == "source";
}

void append_summary(const ConfigNode& node, std::string& text) {
  if (text.size() > kSummaryLength) return;
  switch (node.kind) {
    case ConfigKind::kNull: text += "null"; return;
    case ConfigKind::kScalar: text += node.text; return;
    case ConfigKind::kList: {
      text += "[";
      for (const ConfigNode& item : node.items) {
        if (&item != &node.items.front()) text += ", ";
        append_summary(item, text);
        if (text.size() > kSummaryLength) break;
      }
      text += "]";
      return;
    }
    case ConfigKind::kMap: {
      text += "{";
      for (const ConfigEntry& entry : node.entries) {
        if (&entry != &node.entries.front()) text += ", ";
        text += entry.key + ": ";
        append_summary(entry.value, text);
        if (text.size() > kSummaryLength) break;
      }
      text += "}";
      return;
    }
  }
}

// The text of a --set has no useful line number.
Place place_in(const ConfigSource* source, int line, int column) {
  if (source == nullptr) return {};
  const bool counted = source->kind != SourceKind::kOverride;
  return {.file = source->name, .line = counted ? line : 0, .column = column};
}

}  // namespace

std::string path_relative_to(const ConfigNode& value, std::string_view name) {
  std::string here;
  if (value.source != nullptr && value.source->kind != SourceKind::kOverride) {
    here = value.source->path.empty() ? value.source->name : value.source->path;
  }
  return (std::filesystem::path(here).parent_path() / name).lexically_normal().string();
}

std::string excerpt_of(const ConfigSource* source, int line, int column) {
  if (source == nullptr || line < 1 || static_cast<std::size_t>(line) > source->lines.size()) return {};
  const std::string& whole = source->lines[static_cast<std::size_t>(line) - 1];
  // JSON may be one line of a megabyte: a caret far out would not be visible, and the far end is of no interest.
  if (column > kExcerptLength) return {};
  std::string text = whole.size() > 2 * kExcerptLength ? cut(whole, 2 * kExcerptLength) : whole;
  std::replace(text.begin(), text.end(), '\t', ' ');  // one column each, so that the caret stands below its column
  return text;
}

ConfigEntry* find_entry(ConfigNode& map, std::string_view key) {
  const auto found = std::find_if(map.entries.begin(), map.entries.end(), [&](const auto& e) { return e.key == key; });
  return found == map.entries.end() ? nullptr : &*found;
}

const ConfigEntry* find_entry(const ConfigNode& map, std::string_view key) {
  const auto found = std::find_if(map.entries.begin(), map.entries.end(), [&](const auto& e) { return e.key == key; });
  return found == map.entries.end() ? nullptr : &*found;
}

bool has_provenance(const ConfigNode& node) {
  return node.kind == ConfigKind::kMap && find_entry(node, "value") != nullptr &&
         std::all_of(node.entries.begin(), node.entries.end(), [](const auto& e) { return is_provenance_key(e.key); });
}

const ConfigNode& bare_value(const ConfigNode& node) {
  return has_provenance(node) ? find_entry(node, "value")->value : node;
}

Evidence evidence_of(const ConfigNode& node) {
  if (has_provenance(node)) {
    const ConfigEntry* entry = find_entry(node, "evidence");
    const auto level = entry == nullptr ? std::nullopt : parse_evidence(entry->value.text);
    if (level) return *level;
  }
  if (node.source == nullptr) return Evidence::kAssumed;
  return node.source->evidence.value_or(Evidence::kAssumed);
}

std::string provenance_of(const ConfigNode& node) {
  if (has_provenance(node)) {
    const ConfigEntry* entry = find_entry(node, "source");
    if (entry != nullptr) return entry->value.text;
  }
  return node.source == nullptr ? std::string() : node.source->provenance;
}

std::string origin_of(const ConfigNode& node) {
  if (node.source == nullptr) return "default";
  if (node.source->kind == SourceKind::kOverride) return node.source->name;
  if (node.line == 0) return node.source->name;
  return fmt::format("{}:{}", node.source->name, node.line);
}

Place place_of_value(const ConfigNode& node) {
  return place_in(node.source, node.line, node.column);
}

Place place_of_key(const ConfigNode& node) {
  return place_in(node.source, node.key_line, node.key_column);
}

std::string summary(const ConfigNode& node) {
  std::string text;
  append_summary(node, text);
  const auto line_end = text.find('\n');
  if (line_end == std::string::npos && text.size() <= kSummaryLength) return text;
  return cut(text, std::min(line_end, kSummaryLength));
}

Diagnostic at_value(const ConfigNode& node, std::string code, std::string message, std::string hint) {
  return {.code = std::move(code),
          .place = place_of_value(node),
          .message = std::move(message),
          .excerpt = excerpt_of(node.source, node.line, node.column),
          .caret_length = node.length,
          .hint = std::move(hint)};
}

Diagnostic at_key(const ConfigNode& node, std::string code, std::string message, std::string hint) {
  return {.code = std::move(code),
          .place = place_of_key(node),
          .message = std::move(message),
          .excerpt = excerpt_of(node.source, node.key_line, node.key_column),
          .caret_length = node.key_length,
          .hint = std::move(hint)};
}

}  // namespace ringwright
