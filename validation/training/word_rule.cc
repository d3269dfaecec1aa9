#include "validation/training/word_rule.h"

#include <cctype>

#include <fmt/format.h>

namespace ringwright::validation {

std::string plain_words(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '_' || c == '-' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

bool says(std::string_view text, std::string_view words) {
  return plain_words(text).find(plain_words(words)) != std::string::npos;
}

bool WordRule::fits(std::string_view text) const {
  return std::ranges::all_of(words, [&](const std::string& word) { return says(text, word); });
}

std::vector<std::string> read_rule_words(ConfigMap& map) {
  std::vector<std::string> words = map.texts({.name = "words", .doc = "all of them must occur, in any case"});
  if (!map.documenting() && std::ranges::all_of(words, &std::string::empty)) {
    map.error("words", "E168", fmt::format("{} is empty: the rule would fit every text", map.path_of("words")),
              "name the words that a text must contain");
  }
  return words;
}

std::vector<Setting> read_settings(ConfigMap& map, std::string_view name, std::string_view doc) {
  std::vector<Setting> settings;
  for (const std::string& entry : map.texts({.name = name, .doc = doc})) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == entry.size()) {
      map.error(name, "E168", fmt::format("{} holds '{}', which is not KEY=VALUE", map.path_of(name), entry),
                "write a key of a scenario and its value: training.recompute=full");
      continue;
    }
    settings.push_back({.path = entry.substr(0, equals), .value = entry.substr(equals + 1)});
  }
  return settings;
}

}  // namespace ringwright::validation
