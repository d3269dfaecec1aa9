#include "planning/study/known_keys.h"

#include <algorithm>

#include <fmt/format.h>

#include "configs/scenario/scenario.h"

namespace ringwright::planning {

KnownKeys::KnownKeys() : docs_(configs::scenario_keys()) {
  const LoadOptions options = configs::load_options({});
  for (const PresetRule& rule : options.presets) named_.push_back(rule.path.empty() ? "preset" : rule.path + ".preset");
  for (const ImportRule& rule : options.imports) named_.push_back(rule.path + "." + rule.key);
}

bool KnownKeys::has(std::string_view key) const {
  if (std::ranges::find(named_, key) != named_.end()) return true;
  return std::ranges::any_of(docs_, [key](const KeyDoc& doc) {
    if (key == doc.path) return true;
    return doc.open && key.starts_with(doc.path) && key.size() > doc.path.size() && key[doc.path.size()] == '.';
  });
}

std::string KnownKeys::why_unknown(std::string_view key) const {
  const std::vector<std::string> near = near_keys(docs_, key);
  return fmt::format("there is no key '{}'{}", key,
                     near.empty() ? "" : fmt::format("; did you mean '{}'?", near.front()));
}

}  // namespace ringwright::planning
