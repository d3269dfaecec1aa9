// The documentation of one key, as its reader declares it; source of `explain` and the schema.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright {

enum class KeyType {
  kInteger,
  kNumber,
  kBoolean,
  kText,
  kChoice,
  kDuration,
  kBytes,
  kBandwidth,
  kFlopRate,
  kRatio,
  kPercent,
  kIntegerOrWord,
  kIntegers,
  kTexts,
  kMap,
  kMaps
};

struct OptionDoc {
  std::string name;
  std::string doc;
  friend bool operator==(const OptionDoc&, const OptionDoc&) = default;
};

struct KeyDoc {
  std::string path;  // "cluster.fabric.leaf.speed"; the entries of a list of maps are "faults[]"
  KeyType type = KeyType::kText;
  std::string doc;
  bool required = false;
  std::string fallback;                 // as text; empty when there is none
  std::optional<std::string> min = {};  // as text; inclusive
  std::optional<std::string> max = {};
  std::vector<OptionDoc> options = {};  // of a choice; the word of kIntegerOrWord
  bool open = false;                    // of a map: its keys are data, any name is allowed
  friend bool operator==(const KeyDoc&, const KeyDoc&) = default;
};

// "a bandwidth with a unit, like 400Gbps".
[[nodiscard]] std::string_view describe(KeyType type);

// The page of `explain parallel.tp`, or empty when no key has this path.
[[nodiscard]] std::string explain_key(std::span<const KeyDoc> docs, std::string_view path);
// For a path that no key has: the nearest paths, best first; a key of that name in another section counts as near.
[[nodiscard]] std::vector<std::string> near_keys(std::span<const KeyDoc> docs, std::string_view path);

}  // namespace ringwright
