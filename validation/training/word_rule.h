// A rule for texts that contain certain words, and what every kind of such rule in a YAML file shares.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/config_map.h"

namespace ringwright::validation {

// In lower case, with a blank for '-' and '_'.
[[nodiscard]] std::string plain_words(std::string_view text);
// Case and the difference between '-', '_' and ' ' do not matter.
[[nodiscard]] bool says(std::string_view text, std::string_view words);

// Fits texts that contain all of the words.
struct WordRule {
  std::vector<std::string> words;
  [[nodiscard]] bool fits(std::string_view text) const;
};

// The first rule that fits, or null.
template <class Rule>
[[nodiscard]] const Rule* find_rule(const std::vector<Rule>& rules, std::string_view text) {
  const auto found = std::ranges::find_if(rules, [&](const Rule& rule) { return rule.fits(text); });
  return found == rules.end() ? nullptr : &*found;
}

// A key of a scenario and its value.
struct Setting {
  std::string path;
  std::string value;
};

// The key `words`; a rule without words, which would fit every text, is an error.
[[nodiscard]] std::vector<std::string> read_rule_words(ConfigMap& map);
// A list of "KEY=VALUE".
[[nodiscard]] std::vector<Setting> read_settings(ConfigMap& map, std::string_view name, std::string_view doc);

}  // namespace ringwright::validation
