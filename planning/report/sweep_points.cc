#include "planning/report/sweep_points.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>
#include <system_error>
#include <utility>

#include "core/base/text.h"

namespace ringwright::planning {
namespace {

struct KnownObjective {
  std::string_view name;
  std::string_view field;
  std::string_view title;
  std::string_view unit;
  double factor = 1.0;
  bool less_is_better = true;
};

constexpr std::array kReportedObjectives = {
    KnownObjective{"step_time", "step_time_s", "step time", "s", 1.0, true},
    KnownObjective{"tokens_per_s", "tokens_per_s", "tokens/s", "", 1.0, false},
    KnownObjective{"tokens_per_s_per_gpu", "tokens_per_s_per_gpu", "tokens/s per GPU", "", 1.0, false},
    KnownObjective{"mfu", "mfu", "MFU", "%", 100.0, false},
    KnownObjective{"memory", "memory_bytes", "memory", "GiB", 1.0 / 1073741824.0, true},
    KnownObjective{"cost", "usd_per_1e12_tokens", "price of 10^12 tokens", "USD", 1.0, true},
};

struct ReportedQuantity {
  double number = 0.0;
  std::string_view unit;
};

// "712.952GB/s"; a number is infinite where the text is none.
ReportedQuantity reported_quantity(std::string_view text) {
  ReportedQuantity value{.number = std::numeric_limits<double>::infinity()};
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc()) {
    value = {.number = number, .unit = text.substr(static_cast<std::size_t>(end - text.data()))};
  }
  return value;
}

constexpr std::string_view kTokens = "tokens";

}  // namespace

std::string processed_in(const JsonValue& sweep) {
  const std::vector<const JsonValue*> points = ranked_points(sweep);
  if (points.empty()) return std::string(kTokens);
  std::string first = processed_of(*points.front());
  const bool same = std::ranges::all_of(points, [&](const JsonValue* point) { return processed_of(*point) == first; });
  return same ? first : "tokens or samples";
}

ReportedObjective reported_objective(const JsonValue& sweep) {
  const auto named = std::ranges::find(kReportedObjectives, sweep["objective"].text(), &KnownObjective::name);
  const KnownObjective& known = named == kReportedObjectives.end() ? kReportedObjectives.front() : *named;
  std::string title(known.title);
  if (const std::size_t at = title.find(kTokens); at != std::string::npos) {
    title.replace(at, kTokens.size(), processed_in(sweep));
  }
  return {.name = known.name,
          .field = known.field,
          .title = std::move(title),
          .unit = known.unit,
          .factor = known.factor,
          .less_is_better = known.less_is_better};
}

double objective_value(const ReportedObjective& objective, const JsonValue& point) {
  return point[objective.field].number_or_unknown() * objective.factor;
}

std::vector<std::string> varied_keys(const JsonValue& sweep) {
  std::vector<std::string> keys;
  for (const JsonValue& key : sweep["keys"].list()) {
    if (sorted_values(sweep, key.text()).size() > 1) keys.push_back(key.text());
  }
  return keys;
}

std::vector<const JsonValue*> ranked_points(const JsonValue& sweep) {
  const std::vector<JsonValue>& points = sweep["points"].list();
  std::vector<const JsonValue*> ranked;
  // `ranking` holds indices of points; a shard's points are not all there.
  std::vector<std::pair<double, const JsonValue*>> by_index;
  for (const JsonValue& point : points) by_index.emplace_back(point["index"].number().value_or(-1.0), &point);
  std::ranges::sort(by_index);
  for (const JsonValue& entry : sweep["ranking"].list()) {
    const double index = entry.number().value_or(-2.0);
    const auto found = std::ranges::lower_bound(by_index, index, {}, &std::pair<double, const JsonValue*>::first);
    if (found != by_index.end() && !(found->first > index)) ranked.push_back(found->second);
  }
  return ranked;
}

std::string point_text(const JsonValue& point, const std::vector<std::string>& keys) {
  std::vector<std::string> words;
  for (const std::string& key : keys) words.push_back(key + " " + point["values"][key].text());
  return join(words, ", ");
}

std::vector<std::string> sorted_values(const JsonValue& sweep, const std::string& key) {
  std::vector<std::string> values;
  std::set<std::string_view> known;
  bool are_numbers = true;
  for (const JsonValue& point : sweep["points"].list()) {
    const std::string& value = point["values"][key].text();
    if (!known.insert(value).second) continue;
    are_numbers = are_numbers && reported_quantity(value).number < std::numeric_limits<double>::infinity();
    values.push_back(value);
  }
  if (are_numbers) {
    std::ranges::stable_sort(values, {}, [](const std::string& value) { return reported_quantity(value).number; });
  }
  return values;
}

PanelColumn value_column(const std::string& key, const std::vector<const JsonValue*>& points) {
  PanelColumn as_text = text_column(key);
  PanelColumn as_numbers = number_column(key, "");
  bool are_numbers = !points.empty();
  for (const JsonValue* point : points) {
    const std::string& text = (*point)["values"][key].text();
    const ReportedQuantity value = reported_quantity(text);
    if (as_text.size() == 0) as_numbers.unit = value.unit;
    are_numbers =
        are_numbers && value.number < std::numeric_limits<double>::infinity() && value.unit == as_numbers.unit;
    texts(as_text).push_back(text);
    numbers(as_numbers).push_back(value.number);
  }
  return are_numbers ? as_numbers : as_text;
}

}  // namespace ringwright::planning
