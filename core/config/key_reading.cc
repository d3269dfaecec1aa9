#include "core/config/key_reading.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/sha256.h"
#include "core/base/text.h"

namespace ringwright {
namespace {

// Quoting means "text"; these kinds cannot be mistaken for a number, or must be quoted in some YAML ("2:1").
bool may_be_quoted(KeyType type) {
  switch (type) {
    case KeyType::kInteger:
    case KeyType::kNumber:
    case KeyType::kBoolean:
    case KeyType::kIntegerOrWord:
    case KeyType::kIntegers: return false;
    case KeyType::kText:
    case KeyType::kChoice:
    case KeyType::kDuration:
    case KeyType::kBytes:
    case KeyType::kBandwidth:
    case KeyType::kFlopRate:
    case KeyType::kRatio:
    case KeyType::kPercent:
    case KeyType::kTexts:
    case KeyType::kMap:
    case KeyType::kMaps: return true;
  }
  return true;
}

}  // namespace

std::string path_below(std::string_view map_path, std::string_view name) {
  if (map_path.empty()) return std::string(name);
  std::string path;
  path.reserve(map_path.size() + 1 + name.size());
  path.append(map_path).append(1, '.').append(name);
  return path;
}

ConfigNode* take(Reading& reading) {
  if (reading.log.keeps_reads()) {
    auto& asked = reading.map.asked;
    if (std::find(asked.begin(), asked.end(), reading.name) == asked.end()) asked.emplace_back(reading.name);
    reading.log.note_asked(reading.name, reading.path());
  }
  ConfigEntry* entry = find_entry(reading.map, reading.name);
  if (entry == nullptr) return nullptr;
  entry->read = true;
  return &entry->value;
}

void report(Reading& reading, ConfigNode& value, const ConfigNode& where, const ScalarError& problem) {
  reading.log.add(at_value(where, problem.code, fmt::format("'{}' {}", reading.path(), problem.says), problem.hint));
  value.settled = true;
}

void report_missing(Reading& reading, std::string_view doc, KeyType type) {
  if (reading.map.settled) return;
  const std::string path = reading.path();
  const std::string message = fmt::format("missing key '{}'", path);
  const std::string hint = fmt::format("{}: {} ({})", reading.name, doc, describe(type));
  // The root and the items of a list have no key in front of them.
  const bool named = reading.map.key_line > 0;
  reading.log.add_missing(
      path, named ? at_key(reading.map, "E104", message, hint) : at_value(reading.map, "E104", message, hint));
}

std::string wrong_kind(std::string_view wanted, const ConfigNode& node) {
  const std::string_view kind = node.kind == ConfigKind::kMap ? "map " : node.kind == ConfigKind::kList ? "list " : "";
  const std::string quote = kind.empty() ? (node.quoted ? "\"" : "'") : "";
  return fmt::format("must be {}, not {}{}{}{}{}", wanted, kind.empty() ? "" : "the ", kind, quote, summary(node),
                     quote);
}

void check_provenance(Reading& reading, const ConfigNode& value) {
  const ConfigEntry* entry = has_provenance(value) ? find_entry(value, "evidence") : nullptr;
  if (entry == nullptr || parse_evidence(entry->value.text)) return;
  const std::vector<std::string> levels = {"measured", "calibrated", "vendor-spec", "assumed"};
  const std::string near = nearest_name(entry->value.text, levels);
  reading.log.add(at_value(entry->value, "E107",
                           fmt::format("'{}.evidence' is '{}'{}", reading.path(), summary(entry->value),
                                       near.empty() ? "" : fmt::format("; did you mean '{}'?", near)),
                           "one of: " + join(levels, ", ")));
}

const std::string* scalar_text(Reading& reading, ConfigNode& value, KeyType type) {
  check_provenance(reading, value);
  const ConfigNode& bare = bare_value(value);
  if (bare.kind == ConfigKind::kNull) {
    report(reading, value, bare, {.code = "E113", .says = "has no value", .hint = "give one, or remove the key"});
    return nullptr;
  }
  if (bare.kind != ConfigKind::kScalar) {
    report(reading, value, bare, {.code = "E105", .says = wrong_kind(describe(type), bare)});
    return nullptr;
  }
  if (bare.quoted && !may_be_quoted(type)) {
    report(reading, value, bare,
           {.code = "E105", .says = wrong_kind(describe(type), bare), .hint = "remove the quotes"});
    return nullptr;
  }
  return &bare.text;
}

void log_value(Reading& reading, const ConfigNode& value, std::string canonical_text) {
  if (!reading.log.keeps_reads()) return;
  reading.log.add(ValueRead{.path = reading.path(),
                            .text = summary(bare_value(value)),
                            .canonical = std::move(canonical_text),
                            .origin = origin_of(value),
                            .evidence = evidence_of(value),
                            .source = provenance_of(value)});
}

std::string content_mark(std::string_view text) {
  return "sha256:" + sha256(text);
}

void log_file(Reading& reading, const ConfigNode& value, const InputFile& file) {
  if (!reading.log.keeps_reads()) return;
  constexpr std::size_t kDigits = 8;  // that distinguish two files of one name
  const std::string mark = content_mark(file.text);
  reading.log.add(ValueRead{.path = reading.path(),
                            .text = fmt::format("{} (sha256 {})", std::filesystem::path(file.path).filename().string(),
                                                mark.substr(mark.find(':') + 1, kDigits)),
                            .canonical = mark,
                            .origin = origin_of(value),
                            .evidence = evidence_of(value),
                            .source = provenance_of(value)});
}

void log_default(Reading& reading, std::string text, std::string canonical_text) {
  if (!reading.log.keeps_reads()) return;
  reading.log.add(ValueRead{.path = reading.path(),
                            .text = std::move(text),
                            .canonical = std::move(canonical_text),
                            .origin = "default",
                            .evidence = Evidence::kAssumed,
                            .source = {}});
}

}  // namespace ringwright
