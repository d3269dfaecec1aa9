#include "planning/study/idle_settings.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace ringwright::planning {
namespace {

// Whether a setting "parallel.zero.stage=2" or "faults=[...]" gives this key, or keys below it.
bool gives(const std::string& setting, std::string_view path) {
  const std::string_view key = std::string_view(setting).substr(0, setting.find('='));
  const auto below = [](std::string_view longer, std::string_view shorter) {
    return longer.starts_with(shorter) &&
           (longer.size() == shorter.size() || longer[shorter.size()] == '.' || longer[shorter.size()] == '[');
  };
  return below(path, key) || below(key, path);
}

}  // namespace

std::vector<std::string> idle_settings(const Point& point, std::span<const std::string> settings) {
  std::vector<std::string> notes;
  for (const IgnoredKnob& knob : point.ignored) {
    if (std::ranges::none_of(settings, [&knob](const std::string& setting) { return gives(setting, knob.path); })) {
      continue;
    }
    const std::string_view gap = knob.why.starts_with("in part") ? " " : ": ";
    notes.push_back(fmt::format("{} has no effect{}{}", knob.path, gap, knob.why));
  }
  return notes;
}

}  // namespace ringwright::planning
