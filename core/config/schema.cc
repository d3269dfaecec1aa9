#include "core/config/schema.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/config/scalar.h"

namespace ringwright {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kDigits = "-?[0-9][0-9_]*";
constexpr std::string_view kReal = "-?([0-9][0-9_]*)?(\\.?[0-9]+)([eE][+-]?[0-9]+)?";

// One key of the tree built from the paths of the docs.
struct Branch {
  std::vector<const KeyDoc*> docs;  // one key may be declared by several readers
  std::vector<std::string> order;
  std::map<std::string, Branch> below;
};

Branch& branch_at(Branch& root, std::string_view path) {
  Branch* branch = &root;
  while (!path.empty()) {
    const auto dot = path.find('.');
    std::string word(path.substr(0, dot));
    if (word.size() > 2 && word.compare(word.size() - 2, 2, "[]") == 0) word.resize(word.size() - 2);
    if (branch->below.find(word) == branch->below.end()) branch->order.push_back(word);
    branch = &branch->below[word];
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return *branch;
}

Json text_of(std::string_view pattern) {
  return {{"type", "string"}, {"pattern", fmt::format("^{}$", pattern)}};
}

Json any_of(Json choices) {
  return {{"anyOf", std::move(choices)}};
}

Json quantity(QuantityKind kind) {
  return text_of(std::string(kReal) + " ?" + unit_pattern(kind));
}

Json integer(const KeyDoc& doc) {
  Json plain = {{"type", "integer"}};
  if (const auto min = doc.min ? read_integer(*doc.min) : Scalar<std::int64_t>()) {
    if (doc.min) plain["minimum"] = *min;
  }
  if (const auto max = doc.max ? read_integer(*doc.max) : Scalar<std::int64_t>()) {
    if (doc.max) plain["maximum"] = *max;
  }
  return any_of({plain, text_of(std::string(kDigits) + "(\\.[0-9]+)?[kMG]?")});
}

Json number(const KeyDoc& doc) {
  Json plain = {{"type", "number"}};
  if (doc.min) plain["minimum"] = read_number(*doc.min).value_or(0.0);
  if (doc.max) plain["maximum"] = read_number(*doc.max).value_or(0.0);
  return any_of({plain, text_of(std::string(kReal) + "[kMG]?")});
}

Json words(const KeyDoc& doc) {
  Json names = Json::array();
  for (const OptionDoc& option : doc.options) names.push_back(option.name);
  return {{"enum", names}};
}

// YAML has types of its own: a name that looks like a number is still text here.
Json any_scalar() {
  return {{"type", {"string", "number", "boolean"}}};
}

Json scalar(const KeyDoc& doc) {
  switch (doc.type) {
    case KeyType::kInteger: return integer(doc);
    case KeyType::kNumber: return number(doc);
    case KeyType::kBoolean: return {{"type", "boolean"}};
    case KeyType::kText: return any_scalar();
    case KeyType::kChoice: return words(doc);
    case KeyType::kDuration: return quantity(QuantityKind::kDuration);
    case KeyType::kBytes: return quantity(QuantityKind::kBytes);
    case KeyType::kBandwidth: return quantity(QuantityKind::kBandwidth);
    case KeyType::kFlopRate: return quantity(QuantityKind::kFlopRate);
    case KeyType::kRatio:
      return any_of({{{"type", "number"}, {"exclusiveMinimum", 0}}, text_of(fmt::format("{0}(:{0})?", kReal))});
    case KeyType::kPercent: return any_of({{{"type", "number"}}, text_of(std::string(kReal) + " ?%")});
    case KeyType::kIntegerOrWord: return any_of({integer(doc), words(doc)});
    case KeyType::kIntegers: {
      KeyDoc entry = doc;
      entry.type = KeyType::kInteger;
      return {{"type", "array"}, {"items", scalar(entry)}};
    }
    case KeyType::kTexts: return {{"type", "array"}, {"items", any_scalar()}};
    case KeyType::kMap:
    case KeyType::kMaps: break;
  }
  return {};
}

// {value: 450GB/s, evidence: vendor-spec, source: "data sheet"} in addition to the plain value.
Json with_provenance(const Json& plain) {
  Json long_form = {{"type", "object"},
                    {"required", {"value"}},
                    {"additionalProperties", false},
                    {"properties",
                     {{"value", plain},
                      {"evidence", {{"enum", {"measured", "calibrated", "vendor-spec", "assumed"}}}},
                      {"source", {{"type", "string"}}}}}};
  return any_of({plain, std::move(long_form)});
}

std::string description(const KeyDoc& doc) {
  std::string text = doc.doc;
  if (doc.required) text += " (required)";
  if (!doc.fallback.empty()) text += fmt::format(" (default {})", doc.fallback);
  if (doc.type == KeyType::kChoice) {
    for (const OptionDoc& option : doc.options) text += fmt::format("\n{}: {}", option.name, option.doc);
  }
  return text;
}

Json object(const Branch& branch, const std::string& path, std::span<const PresetRule> presets);

Json map_of_key(const Branch& branch, const std::string& path, std::span<const PresetRule> presets) {
  const bool list = std::any_of(branch.docs.begin(), branch.docs.end(),
                                [](const KeyDoc* doc) { return doc->type == KeyType::kMaps; });
  if (!list) return object(branch, path, presets);
  return {{"type", "array"}, {"items", object(branch, path + "[]", presets)}};
}

Json key(const Branch& branch, const std::string& path, std::span<const PresetRule> presets) {
  Json choices = Json::array();
  std::string about;
  bool is_map = branch.docs.empty();
  for (const KeyDoc* doc : branch.docs) {
    const bool map = doc->type == KeyType::kMap || doc->type == KeyType::kMaps;
    is_map = is_map || map;
    const std::string text = description(*doc);
    if (about.find(text) == std::string::npos) about += (about.empty() ? "" : "\nor: ") + text;
    Json choice = map ? Json() : with_provenance(scalar(*doc));
    if (!map && std::find(choices.begin(), choices.end(), choice) == choices.end())
      choices.push_back(std::move(choice));
  }
  if (is_map) choices.push_back(map_of_key(branch, path, presets));
  const auto rule = std::ranges::find(presets, path, &PresetRule::path);  // the name alone does, too
  if (is_map && rule != presets.end()) {
    choices.push_back({{"description", preset_help(*rule)}, {"type", "string"}});
  }
  Json schema = {{"description", about}};
  schema.update(choices.size() == 1 ? choices.front() : any_of(choices));
  return schema;
}

Json object(const Branch& branch, const std::string& path, std::span<const PresetRule> presets) {
  Json properties = Json::object();
  for (const std::string& name : branch.order) {
    properties[name] = key(branch.below.at(name), path.empty() ? name : fmt::format("{}.{}", path, name), presets);
  }
  for (const PresetRule& rule : presets) {
    if (rule.path != path || properties.contains("preset")) continue;
    properties["preset"] = {{"description", preset_help(rule)}, {"type", "string"}};
  }
  const bool open = std::any_of(branch.docs.begin(), branch.docs.end(), [](const KeyDoc* doc) { return doc->open; });
  Json schema = {{"type", "object"}, {"properties", std::move(properties)}};
  // An open map without keys of its own holds settings of another map, of any type.
  const bool settings = open && branch.order.empty();
  schema["additionalProperties"] = settings ? Json(true) : open ? any_scalar() : Json(false);
  return schema;
}

}  // namespace

std::string preset_help(const PresetRule& rule) {
  return fmt::format(
      "a name of 'ringwright list {}', or the path of a file (*.yaml); the keys next to it override its values",
      rule.folder);
}

std::string json_schema(std::span<const KeyDoc> docs, std::span<const PresetRule> presets, std::string_view title) {
  Branch root;
  for (const KeyDoc& doc : docs) branch_at(root, doc.path).docs.push_back(&doc);
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", title}};
  schema.update(object(root, "", presets));
  Json& properties = schema["properties"];
  properties["extends"] = {{"description", std::string(kExtendsHelp)}, {"type", "string"}};
  properties["evidence"] = {{"description", "how far the values of this file can be trusted"},
                            {"enum", {"measured", "calibrated", "vendor-spec", "assumed"}}};
  if (!properties.contains("source")) {
    properties["source"] = {{"description", "where the values of this file come from"}, {"type", "string"}};
  }
  return schema.dump(2) + "\n";
}

}  // namespace ringwright
