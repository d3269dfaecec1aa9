#include "traces/astra/file_reading.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright::traces {

void warn_of_unread_keys(ConfigMap& map, std::span<const std::string_view> known) {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const std::string& key : map.keys()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::string near = nearest_name(key, names);
    map.warn(key, "W271", fmt::format("ASTRA-sim does not read '{}': it has no effect", key),
             near.empty() ? std::string() : fmt::format("did you mean '{}'?", near));
    map.ignore(key, "ASTRA-sim does not read it");
  }
}

std::vector<double> numbers_above(ConfigMap& map, std::string_view name, std::string_view doc, double above) {
  std::vector<double> numbers;
  for (const std::string& text : map.texts({.name = name, .doc = doc})) {
    double number = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    if (!is_number || !(number > above) || !(number < 1e18)) {
      map.error(
          name, "E270",
          fmt::format("{} has '{}' and needs numbers above {}", map.path_of(name), text, above < 0 ? "or at 0" : "0"));
      return {};
    }
    numbers.push_back(number);
  }
  return numbers;
}

std::optional<bool> read_switch(ConfigMap& map, std::string_view name, std::string_view doc) {
  if (!map.has(name)) return std::nullopt;
  const std::string word = map.text({.name = name, .doc = doc});
  if (word == "1" || word == "true") return true;
  if (word == "0" || word == "false") return false;
  map.error(name, "E270", fmt::format("{} is '{}' and must be 0 or 1", map.path_of(name), word));
  return false;
}

}  // namespace ringwright::traces
