#include "planning/sweep/idle_keys.h"

#include <algorithm>
#include <map>
#include <optional>

namespace ringwright::planning {
namespace {

const std::string* value_of_key(const SweepRow& row, const std::string& key) {
  const auto found = std::ranges::find(row.values, key, &KeyValue::key);
  return found == row.values.end() ? nullptr : &found->value;
}

// The reason in the first point, where reading every point says so.
std::optional<std::string> why_by_reading(const std::string& key, const std::vector<SweepRow>& rows) {
  const auto names = [&key](const IgnoredKnob& knob) { return knob.path == key && !knob.why.starts_with("in part"); };
  std::optional<std::string> why;
  for (const SweepRow& row : rows) {
    if (row.point.status == PointStatus::kRefused || value_of_key(row, key) == nullptr) continue;
    const auto found = std::ranges::find_if(row.ignored, names);
    if (found == row.ignored.end()) return std::nullopt;
    if (!why) why = found->why;
  }
  return why;
}

bool is_equal(const StepFigures& a, const StepFigures& b) {
  const auto cost = [](const StepFigures& figures) {
    return std::pair(figures.cost.usd_per_tera_tokens, figures.cost.joules_per_token);
  };
  return a.step == b.step && a.parts == b.parts && a.memory == b.memory && a.memory_capacity == b.memory_capacity &&
         a.gpus == b.gpus && a.tokens_per_step == b.tokens_per_step &&
         a.model_flop_utilisation == b.model_flop_utilisation && cost(a) == cost(b);
}

// Points that have the same values of all other keys.
bool changes_nothing(const std::string& key, const std::vector<SweepRow>& rows) {
  std::map<std::vector<std::string>, const SweepRow*> firsts;
  bool compared = false;
  for (const SweepRow& row : rows) {
    const std::string* const value = value_of_key(row, key);
    if (value == nullptr) continue;
    if (!row.is_known) return false;
    std::vector<std::string> others;
    for (const KeyValue& each : row.values) {
      if (each.key != key) others.push_back(each.key + "=" + each.value);
    }
    const SweepRow* const first = firsts.emplace(std::move(others), &row).first->second;
    if (*value_of_key(*first, key) == *value) continue;
    if (first->point.status != row.point.status) return false;
    if (!row.point.was_simulated()) continue;
    if (!is_equal(first->point.figures, row.point.figures)) return false;
    compared = true;
  }
  return compared;
}

}  // namespace

std::vector<IdleKey> idle_keys(const std::vector<std::string>& keys, const std::vector<SweepRow>& rows) {
  std::vector<IdleKey> idle;
  for (const std::string& key : keys) {
    if (auto why = why_by_reading(key, rows))
      idle.push_back({.key = key, .why = std::move(*why)});
    else if (changes_nothing(key, rows))
      idle.push_back({.key = key, .why = "points that differ in it alone have equal steps, memory and cost"});
  }
  return idle;
}

}  // namespace ringwright::planning
