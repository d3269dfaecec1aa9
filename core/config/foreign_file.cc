#include "core/config/foreign_file.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright {

void warn_of_unread_keys(ConfigMap& map, std::span<const std::string_view> known, const ForeignProgram& program) {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const std::string& key : map.keys()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::string near = nearest_name(key, names);
    map.warn(key, std::string(program.unread_key),
             fmt::format("{} does not read '{}': it has no effect", program.name, key),
             near.empty() ? std::string() : fmt::format("did you mean '{}'?", near));
    map.ignore(key, fmt::format("{} does not read it", program.name));
  }
}

std::vector<double> read_plain_numbers(ConfigMap& map, const PlainNumbers& wanted, const ForeignProgram& program) {
  std::vector<double> numbers;
  for (const std::string& text : map.texts({.name = wanted.name, .doc = wanted.doc})) {
    double number = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    if (!is_number || !(number > wanted.above) || !(number < 1e18)) {
      map.error(wanted.name, std::string(program.wrong_value),
                fmt::format("{} has '{}' and needs numbers above {}", map.path_of(wanted.name), text,
                            wanted.above < 0 ? "or at 0" : "0"));
      return {};
    }
    numbers.push_back(number);
  }
  return numbers;
}

std::optional<bool> read_plain_switch(ConfigMap& map, const PlainSwitch& wanted, const ForeignProgram& program) {
  if (!map.has(wanted.name)) return std::nullopt;
  const std::string word = map.text({.name = wanted.name, .doc = wanted.doc});
  if (word == "1" || word == "true") return true;
  if (word == "0" || word == "false") return false;
  map.error(wanted.name, std::string(program.wrong_value),
            fmt::format("{} is '{}' and must be 0 or 1", map.path_of(wanted.name), word));
  return false;
}

}  // namespace ringwright
