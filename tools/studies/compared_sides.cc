#include "tools/studies/compared_sides.h"

#include <string_view>
#include <utility>

#include "tools/scenario_file.h"

namespace ringwright::tools {
namespace {

constexpr std::string_view kPublished = "published:";

}  // namespace

Result<planning::SideBySide> compare_sides(std::vector<std::string> sides, const std::vector<std::string>& settings) {
  if (sides.size() == 1 && !settings.empty()) sides.push_back(sides.front());
  if (sides.size() < 2) {
    return tl::unexpected(failure("E321", "name two scenarios or results, or change one: --set parallel.tp=4"));
  }
  std::vector<planning::ComparedStep> steps;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const std::vector<std::string> changes = i == 1 ? settings : std::vector<std::string>();
    const bool published = sides[i].starts_with(kPublished);
    const std::string named = published ? sides[i].substr(kPublished.size()) : sides[i];
    const std::string earlier = published ? "" : planning::result_file(named);
    if (!changes.empty() && published) {
      return tl::unexpected(failure("E321", "--set changes a scenario, and '" + sides[i] + "' is a measurement"));
    }
    if (!changes.empty() && !earlier.empty()) {
      return tl::unexpected(failure("E321", "--set changes a scenario, and '" + sides[i] + "' is a result"));
    }
    const auto path = earlier.empty() ? find_scenario(named) : Result<std::string>(earlier);
    if (!path) return tl::unexpected(path.error());
    auto step = published ? planning::load_published(*path) : planning::load_compared(*path, changes);
    if (!step) return tl::unexpected(std::move(step.error()));
    step->source = sides[i];
    for (const std::string& setting : changes) step->source += " --set " + setting;
    steps.push_back(std::move(*step));
  }
  return planning::compare(std::move(steps));
}

}  // namespace ringwright::tools
