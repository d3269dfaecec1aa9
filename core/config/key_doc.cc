#include "core/config/key_doc.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright {
namespace {

// "faults[3].at", "faults[].at" and "faults.at" mean one key.
std::string without_indices(std::string_view path) {
  std::string text;
  bool inside = false;
  for (const char c : path) {
    if (c == '[') inside = true;
    if (!inside) text += c;
    if (c == ']') inside = false;
  }
  return text;
}

// "hf" of "model.hf", "zero.stage" of "parallel.zero.stage".
bool ends_with_words(const std::string& path, const std::string& words) {
  return path.size() > words.size() && path.ends_with(words) && path[path.size() - words.size() - 1] == '.';
}

std::string range_text(const KeyDoc& doc) {
  if (doc.min && doc.max) return fmt::format(", between {} and {}", *doc.min, *doc.max);
  if (doc.min) return fmt::format(", at least {}", *doc.min);
  if (doc.max) return fmt::format(", at most {}", *doc.max);
  return {};
}

std::string page(const KeyDoc& doc) {
  std::string text = fmt::format("{}: {}{}", doc.path, describe(doc.type), range_text(doc));
  if (doc.type == KeyType::kIntegerOrWord) text += fmt::format(", or the word '{}'", doc.options.front().name);
  if (doc.required) text += ", required";
  if (!doc.fallback.empty()) text += fmt::format(", default {}", doc.fallback);
  text += fmt::format("\n  {}\n", doc.doc);
  if (doc.type != KeyType::kChoice) return text;
  std::size_t width = 0;
  for (const OptionDoc& option : doc.options) width = std::max(width, option.name.size());
  for (const OptionDoc& option : doc.options) text += fmt::format("  {:<{}}  {}\n", option.name, width, option.doc);
  return text;
}

std::string last_word(std::string_view path) {
  const auto dot = path.rfind('.');
  return std::string(dot == std::string_view::npos ? path : path.substr(dot + 1));
}

// "model.hf" for "hf", where no other key ends so; "faults[].nic" for "faults.nic".
std::string full_path(std::span<const KeyDoc> docs, std::string_view path) {
  const std::string wanted = without_indices(path);
  std::string found;
  for (const KeyDoc& doc : docs) {
    const std::string known = without_indices(doc.path);
    if (known == wanted) return doc.path;
    if (!ends_with_words(known, wanted)) continue;
    if (!found.empty() && found != doc.path) return std::string(path);  // several keys end so
    found = doc.path;
  }
  return found.empty() ? std::string(path) : found;
}

}  // namespace

std::string_view describe(KeyType type) {
  switch (type) {
    case KeyType::kInteger: return "an integer";
    case KeyType::kNumber: return "a number";
    case KeyType::kBoolean: return "true or false";
    case KeyType::kText: return "a text";
    case KeyType::kChoice: return "a word";
    case KeyType::kDuration: return "a time with a unit, like 1.2us";
    case KeyType::kBytes: return "a size with a unit, like 40MiB";
    case KeyType::kBandwidth: return "a bandwidth with a unit, like 400Gbps";
    case KeyType::kFlopRate: return "a compute rate with a unit, like 989TFLOPS";
    case KeyType::kRatio: return "a ratio, like 2:1 or 2.0";
    case KeyType::kPercent: return "a share, like 10% or 0.1";
    case KeyType::kIntegerOrWord: return "an integer";
    case KeyType::kIntegers: return "a list of integers";
    case KeyType::kTexts: return "a list of texts";
    case KeyType::kMap: return "a map";
    case KeyType::kMaps: return "a list of maps";
  }
  return {};
}

std::string explain_key(std::span<const KeyDoc> docs, std::string_view path) {
  const std::string wanted = without_indices(full_path(docs, path));
  std::string text;
  std::vector<std::string> below;
  for (const KeyDoc& doc : docs) {
    const std::string known = without_indices(doc.path);
    if (known == wanted) text += page(doc);
    const std::string item = known.compare(0, wanted.size(), wanted) == 0 ? known.substr(wanted.size()) : "";
    const bool child = item.compare(0, 1, ".") == 0;
    if (!child || item.find('.') != item.rfind('.')) continue;
    const std::string name = last_word(doc.path);
    if (std::find(below.begin(), below.end(), name) == below.end()) below.push_back(name);
  }
  if (!text.empty() && !below.empty()) text += fmt::format("  keys: {}\n", join(below, ", "));
  return text;
}

std::vector<std::string> near_keys(std::span<const KeyDoc> docs, std::string_view path) {
  const std::string wanted = without_indices(path);
  std::vector<std::pair<int, std::string>> found;
  for (const KeyDoc& doc : docs) {
    const std::string known = without_indices(doc.path);
    const int whole = ends_with_words(known, wanted) ? 0 : edit_distance(wanted, known);
    const int word = edit_distance(last_word(wanted), last_word(doc.path));
    const bool near_whole = whole <= std::max(1, static_cast<int>(wanted.size()) / 4);
    const bool near_word = word <= static_cast<int>(last_word(wanted).size()) / 4;
    // A key with exactly this name in another section ranks right after a typo of one letter.
    if (near_whole || near_word) found.emplace_back(std::min(whole, word * 2 + 2), doc.path);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (const auto& [distance, name] : found) {
    if (names.size() < 5 && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace ringwright
