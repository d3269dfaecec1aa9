// The start of a search: a layout that does not fit the machine is replaced by the first legal layout of the space, so
// that the search for one that fits can begin.
#include "planning/search/search_base.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "configs/scenario/scenario_reader.h"
#include "planning/study/first_error.h"

namespace ringwright::planning {
namespace {

// Sizes that do not divide the GPUs, the layers, the model or the batch (workload/error_codes.cc).
constexpr std::array<std::string_view, 7> kSizes = {"E130", "E131", "E134", "E136", "E137", "E138", "E139"};

bool is_of_sizes(const Diagnostic& diagnostic) {
  return diagnostic.severity != Severity::kError || std::ranges::find(kSizes, diagnostic.code) != kSizes.end();
}

std::optional<configs::Scenario> first_legal(const configs::Scenario& read, const SearchSpace& space) {
  for (std::size_t index = 0; index < space.size(); ++index) {
    const Layout layout = space.layout(index);
    if (refuse_early(layout, read)) continue;
    if (auto legal = changed_scenario(read, space.changes(layout))) return std::move(*legal);
  }
  return std::nullopt;
}

}  // namespace

Result<SearchBase> load_search_base(const std::string& path, const configs::ScenarioOptions& options,
                                    const std::vector<configs::SearchAxis>& others) {
  auto scenario = configs::load_scenario(path, options);
  if (scenario && !scenario->job.trains_transformer()) {
    return tl::unexpected(failure("E153", "a search needs a transformer ('model'); this scenario has a 'workload', a "
                                          "'recommendation' or a 'layer_table'",
                                  {.file = path}, "ringwright sweep takes any job"));
  }
  if (scenario) return SearchBase{.read = nullptr, .scenario = std::move(*scenario), .own_problem = {}};
  if (!std::ranges::all_of(scenario.error().all(), is_of_sizes)) return tl::unexpected(scenario.error());
  auto with_errors = configs::read_scenario_with_errors(path, options);
  if (!with_errors) return tl::unexpected(scenario.error());
  auto read = std::make_unique<configs::Scenario>(std::move(*with_errors));
  configs::SearchSettings settings = read->search;
  settings.given.insert(settings.given.end(), others.begin(), others.end());
  const SearchSpace space(*read, settings);
  if (space.size() > kMostCombinations) return tl::unexpected(scenario.error());
  auto legal = first_legal(*read, space);
  if (!legal) return tl::unexpected(scenario.error());
  const Diagnostic* const problem = first_error(scenario.error());
  return SearchBase{.read = std::move(read),
                    .scenario = std::move(*legal),
                    .own_problem = problem != nullptr ? reason_of(*problem) : std::string()};
}

}  // namespace ringwright::planning
