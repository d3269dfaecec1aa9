// The best point of a sweep for each value of each key: what a choice costs when everything else is chosen for it.
#include <limits>
#include <map>

#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/sweep_points.h"

namespace ringwright::planning {
namespace {

constexpr std::size_t kMostEffectKeys = 8;
constexpr std::size_t kMostEffectValues = 40;

struct EffectOfValue {
  std::string value;
  const JsonValue* best = nullptr;
  std::size_t points = 0;
};

// One for each value; points come best first.
std::vector<EffectOfValue> effects_of(const std::string& key, const JsonValue& sweep,
                                      const std::vector<const JsonValue*>& ranked) {
  std::vector<EffectOfValue> effects;
  std::map<std::string_view, std::size_t> position;
  const std::vector<std::string> values = sorted_values(sweep, key);
  for (const std::string& value : values) {
    position.emplace(value, effects.size());
    effects.push_back({.value = value});
  }
  for (const JsonValue* point : ranked) {
    EffectOfValue& effect = effects[position.at((*point)["values"][key].text())];
    if (effect.best == nullptr) effect.best = point;
    ++effect.points;
  }
  return effects;
}

}  // namespace

std::vector<Panel> sweep_effects(const ResultInput& result) {
  const ReportedObjective objective = reported_objective(result.json);
  const std::vector<const JsonValue*> ranked = ranked_points(result.json);
  const std::vector<std::string> keys = varied_keys(result.json);
  std::vector<Panel> panels;
  for (const std::string& key : keys) {
    const std::vector<EffectOfValue> effects = effects_of(key, result.json, ranked);
    if (effects.size() > kMostEffectValues || panels.size() == kMostEffectKeys) continue;
    PanelColumn value = text_column(key),
                best = number_column(objective.title, std::string(objective.unit)),
                points = number_column("possible points", ""), with = text_column("best with");
    for (const EffectOfValue& effect : effects) {
      texts(value).push_back(effect.value);
      numbers(best).push_back(effect.best == nullptr ? std::numeric_limits<double>::quiet_NaN()
                                                     : objective_value(objective, *effect.best));
      numbers(points).push_back(static_cast<double>(effect.points));
      texts(with).push_back(effect.best == nullptr ? "" : point_text(*effect.best, keys));
    }
    panels.push_back({.id = fmt::format("effect-{}", panels.size() + 1),
                      .title = "Best by " + key,
                      .sentence = "The best point with each value, whatever the other keys are. A value without a bar "
                                  "has no possible point.",
                      .chart = Chart::kBars,
                      .columns = {value, best, points, with}});
  }
  return panels;
}

}  // namespace ringwright::planning
