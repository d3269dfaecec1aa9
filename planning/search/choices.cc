#include "planning/search/choices.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "planning/search/search_rank.h"
#include "planning/search/search_report.h"
#include "planning/study/difference.h"

namespace ringwright::planning {
namespace {

Duration by_formulas(const Configuration& configuration) {
  return configuration.quick->step_time.mean;
}

}  // namespace

std::vector<ChoiceClass> choice_classes(const SearchResult& result) {
  std::vector<ChoiceClass> classes;
  for (const configs::SearchAxis& axis : result.axes) {
    if (axis.values.size() < 2) continue;
    std::map<std::string, ChoiceClass> by_value;
    for (std::size_t i = 0; i < result.ranked.size(); ++i) {
      ChoiceClass& choice = by_value[value_on(result.ranked[i].layout, axis.name)];
      ++choice.fitting;
      if (!choice.best || by_formulas(result.ranked[i]) < by_formulas(result.ranked[*choice.best])) choice.best = i;
    }
    for (const SkippedLayout& skipped : result.skipped) {
      ++by_value[value_on(skipped.configuration.layout, axis.name)].fitting;
    }
    for (std::size_t i = 0; i < result.misfits.size(); ++i) {
      ChoiceClass& choice = by_value[value_on(result.misfits[i].layout, axis.name)];
      ++choice.too_large;
      if (!choice.closest) choice.closest = i;  // the closest come first
    }
    for (const std::string& value : axis.values) {
      const auto found = by_value.find(value);
      if (found == by_value.end()) continue;
      ChoiceClass choice = std::move(found->second);
      choice.axis = axis.name;
      choice.value = value;
      classes.push_back(std::move(choice));
    }
  }
  return classes;
}

std::optional<StepBound> step_bound(const SearchResult& result) {
  std::optional<StepBound> bound;
  for (std::size_t i = 0; i < result.ranked.size(); ++i) {
    const configs::Prediction& prediction = *result.ranked[i].quick;
    const Duration computing = prediction.everywhere.computing, step = prediction.step_time.mean;
    if (!bound) bound = {.computing = computing, .shortest = i, .fastest = step};
    if (computing < bound->computing) {
      bound->computing = computing;
      bound->shortest = i;
    }
    bound->fastest = std::min(bound->fastest, step);
  }
  return bound;
}

std::string why_slower(const configs::Prediction& faster, const configs::Prediction& slower) {
  if (slower.step_time.mean == faster.step_time.mean) return "as fast";
  const std::string more = signed_text(slower.step_time.mean - faster.step_time.mean);
  const auto term = largest_difference(faster.everywhere, slower.everywhere);
  return term ? fmt::format("{}: {} {}", more, term->name, signed_text(term->more)) : more;
}

}  // namespace ringwright::planning
