// What a search found, for programs: JSON and CSV.
#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "planning/search/choices.h"
#include "planning/search/search_report.h"
#include "planning/study/csv_field.h"

namespace ringwright::planning {
namespace {

std::string json_list(const std::vector<std::string>& values) {
  std::vector<std::string> quoted;
  for (const std::string& value : values) quoted.push_back(json_text(value));
  return "[" + join(quoted, ", ") + "]";
}

std::string json_prediction(const configs::Prediction& prediction) {
  std::string exposed_terms;
  for (const DimensionTime& dimension : prediction.everywhere.dimensions) {
    exposed_terms +=
        fmt::format(", {}: {}", json_text("exposed_" + dimension.name + "_s"), to_seconds(dimension.exposed));
  }
  return fmt::format(
      "{{\"step_time_s\": {}, \"tokens_per_s_per_gpu\": {}, \"mfu\": {}, \"computing_s\": {}, \"bubble_s\": {}{}}}",
      to_seconds(prediction.step_time.mean), prediction.tokens_per_second_per_gpu,
      prediction.model_flop_utilisation ? fmt::format("{}", *prediction.model_flop_utilisation) : "null",
      to_seconds(prediction.everywhere.computing), to_seconds(prediction.everywhere.idle), exposed_terms);
}

std::string json_configuration(const Configuration& configuration, const std::vector<configs::SearchAxis>& axes) {
  std::string text = "{";
  for (const configs::SearchAxis& axis : axes)
    text += fmt::format("{}: {}, ", json_text(axis.name), json_text(value_on(configuration.layout, axis.name)));
  text += fmt::format("\"dp\": {}, \"layers_per_part\": [{}], \"memory_bytes\": {}", configuration.dp,
                      fmt::join(configuration.layers_per_part, ", "), configuration.fullest.total.count());
  if (!configuration.layout.stages.empty()) {
    text += fmt::format(", \"stages\": {}", json_text(configuration.layout.stages));
  }
  if (configuration.quick) text += ", \"formulas\": " + json_prediction(*configuration.quick);
  if (configuration.played) text += ", \"simulated\": " + json_prediction(*configuration.played);
  return text + "}";
}

std::string lines_of(const std::vector<std::string>& entries) {
  return entries.empty() ? "[]" : "[\n    " + join(entries, ",\n    ") + "\n  ]";
}

std::string seconds_or_null(const std::optional<configs::Prediction>& prediction) {
  return prediction ? fmt::format("{}", to_seconds(prediction->step_time.mean)) : "null";
}

// The best layouts in few bytes each, for plots: a row of values under the names of its columns.
constexpr std::size_t kMostListed = 5'000;
std::string json_layouts(const SearchResult& result) {
  std::vector<std::string> columns, rows;
  for (const configs::SearchAxis& axis : result.axes) columns.push_back(axis.name);
  for (const char* const name : {"dp", "memory_bytes", "formulas_step_time_s", "simulated_step_time_s"}) {
    columns.emplace_back(name);
  }
  for (std::size_t i = 0; i < std::min(result.ranked.size(), kMostListed); ++i) {
    const Configuration& layout = result.ranked[i];
    std::string row;
    for (const configs::SearchAxis& axis : result.axes) row += json_text(value_on(layout.layout, axis.name)) + ",";
    rows.push_back(fmt::format("[{}{},{},{},{}]", row, layout.dp, layout.fullest.total.count(),
                               seconds_or_null(layout.quick), seconds_or_null(layout.played)));
  }
  return fmt::format("{{\"columns\": {}, \"rows\": {}}}", json_list(columns), lines_of(rows));
}

std::string json_own(const SearchReport& report) {
  const OwnLayout& own = report.result.own;
  if (!own.problem.empty()) return fmt::format("{{\"problem\": {}}}", json_text(own.problem));
  return fmt::format("{{\"rank\": {}, \"fits\": {}, \"configuration\": {}}}",
                     own.rank && own.is_rank_known ? std::to_string(*own.rank) : "null", own.fits,
                     json_configuration(own.configuration, report.result.axes));
}

std::string csv_row(const std::string& rank, const Configuration& c, const std::vector<configs::SearchAxis>& axes) {
  std::string row = rank;
  for (const configs::SearchAxis& axis : axes) row += "," + csv_field(value_on(c.layout, axis.name));
  row += fmt::format(",{},{},{}", c.dp, fmt::join(c.layers_per_part, " "), c.fullest.total.count());
  row += c.quick ? fmt::format(",{}", to_seconds(c.quick->step_time.mean)) : ",";
  row += c.played ? fmt::format(",{}", to_seconds(c.played->step_time.mean)) : ",";
  if (!c.quick) return row + ",,,,,\n";
  const configs::Prediction& best = c.best_known();
  return row + fmt::format(",{},{},{},{},{}\n", best.tokens_per_second_per_gpu,
                           best.model_flop_utilisation ? fmt::format("{}", *best.model_flop_utilisation) : "",
                           to_seconds(best.everywhere.computing), to_seconds(best.everywhere.idle),
                           to_seconds(exposed(best.everywhere)));
}

// Classes of layouts by one choice, and the bound.
std::string json_choices(const SearchResult& result) {
  std::vector<std::string> entries;
  for (const ChoiceClass& choice : choice_classes(result)) {
    std::string text = fmt::format("{{\"axis\": {}, \"value\": {}, \"fit\": {}, \"too_large\": {}",
                                   json_text(choice.axis), json_text(choice.value), choice.fitting, choice.too_large);
    if (choice.best) text += ", \"best\": " + json_configuration(result.ranked[*choice.best], result.axes);
    entries.push_back(text + "}");
  }
  return lines_of(entries);
}

std::string json_bound(const SearchResult& result) {
  const std::optional<StepBound> bound = step_bound(result);
  if (!bound) return "null";
  return fmt::format("{{\"computing_s\": {}, \"quickest_s\": {}, \"configuration\": {}}}", to_seconds(bound->computing),
                     to_seconds(bound->fastest), json_configuration(result.ranked[bound->shortest], result.axes));
}

// Nothing where none may be skipped.
std::string json_skipped(const SearchReport& report) {
  if (report.settings.skip_slower != configs::SkipSlower::kAlways && report.result.skipped.empty()) return {};
  return fmt::format("  \"skipped\": {},\n  \"bounds_hold\": {},\n", report.result.skipped.size(),
                     report.result.bounds_hold);
}

}  // namespace

std::string value_on(const Layout& layout, std::string_view axis) {
  if (axis == "tp") return std::to_string(layout.tp);
  if (axis == "pp") return std::to_string(layout.pp);
  if (axis == "virtual_stages") return std::to_string(layout.virtual_stages);
  if (axis == "cp") return std::to_string(layout.cp);
  if (axis == "ep") return std::to_string(layout.ep);
  if (axis == "etp") return layout.etp;
  if (axis == "micro_batch") return std::to_string(layout.micro_batch);
  if (axis == "recompute") return layout.recompute;
  if (axis == "sharding") return layout.sharding;
  if (axis == "stage_layers") return layout.stage_layers;
  if (axis == "schedule") return layout.schedule;
  if (axis == "sequence_parallel") return layout.sequence_parallel;
  const auto other = std::ranges::find(layout.others, axis, &std::pair<std::string, std::string>::first);
  return other == layout.others.end() ? std::string("-") : other->second;
}

Duration exposed(const TimeBreakdown& breakdown) {
  Duration sum;
  for (const DimensionTime& dimension : breakdown.dimensions) sum += dimension.exposed;
  return sum;
}

std::string render_search_json(const SearchReport& report) {
  const SearchResult& result = report.result;
  std::vector<std::string> axes, refusals, ranked, misfits, front;
  for (const configs::SearchAxis& axis : result.axes)
    axes.push_back(fmt::format("{}: {}", json_text(axis.name), json_list(axis.values)));
  for (const RefusalCount& entry : result.refusals) {
    refusals.push_back(fmt::format("{{\"code\": {}, \"reason\": {}, \"count\": {}, \"example\": {}}}",
                                   json_text(entry.refusal.code), json_text(entry.refusal.reason), entry.count,
                                   json_text(entry.refusal.example)));
  }
  const std::size_t top = std::min<std::size_t>(static_cast<std::size_t>(report.settings.top), result.ranked.size());
  for (std::size_t i = 0; i < top; ++i) ranked.push_back(json_configuration(result.ranked[i], result.axes));
  for (const std::size_t index : result.front) front.push_back(json_configuration(result.ranked[index], result.axes));
  for (std::size_t i = 0; i < std::min(top, result.misfits.size()); ++i)
    misfits.push_back(json_configuration(result.misfits[i], result.axes));
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.search/1\",\n  \"scenario\": {},\n  \"command\": {},\n  \"objective\": {},\n"
      "  \"axes\": {{{}}},\n"
      "  \"combinations\": {},\n  \"same\": {},\n  \"predicted\": {},\n{}  \"too_large\": {},\n"
      "  \"memory_limit_bytes\": {},\n"
      "  \"refused\": {},\n  \"replayed\": {},\n  \"kendall_tau\": {},\n  \"ranking\": {},\n  \"pareto\": {},\n  "
      "\"misfits\": {},\n"
      "  \"choices\": {},\n  \"bound\": {},\n"
      "  \"layouts\": {},\n"
      "  \"own\": {}\n}}\n",
      json_text(report.scenario.name), json_list(report.command), json_text(to_string(report.settings.objective)),
      join(axes, ", "), result.combinations, result.same, result.ranked.size(), json_skipped(report),
      result.misfits.size(), result.capacity.count(), lines_of(refusals), result.replayed,
      result.agreement ? fmt::format("{}", *result.agreement) : "null", lines_of(ranked), lines_of(front),
      lines_of(misfits), json_choices(result), json_bound(result), json_layouts(result), json_own(report));
}

std::string render_search_csv(const SearchReport& report) {
  std::string text = "rank";
  for (const configs::SearchAxis& axis : report.result.axes) text += "," + csv_field(axis.name);
  text +=
      ",dp,layers_per_part,memory_bytes,formulas_step_time_s,simulated_step_time_s,tokens_per_s_per_gpu,mfu,"
      "computing_s,bubble_s,exposed_s\n";
  for (std::size_t i = 0; i < report.result.ranked.size(); ++i) {
    const Configuration& ranked = report.result.ranked[i];
    text += csv_row(report.result.is_rank_known(ranked) ? std::to_string(i + 1) : "", ranked, report.result.axes);
  }
  for (const SkippedLayout& skipped : report.result.skipped) {
    text += csv_row("skipped", skipped.configuration, report.result.axes);
  }
  for (const Configuration& misfit : report.result.misfits) text += csv_row("does not fit", misfit, report.result.axes);
  return text;
}

}  // namespace ringwright::planning
