// How the step time responds to each physical parameter of a scenario, changed alone.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/text.h"
#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

constexpr std::size_t kMostTornadoBars = 30;

double change_percent(const JsonValue& side, double base_ps) {
  return 100.0 * (side["step_ps"].number_or_unknown() / base_ps - 1.0);
}

Panel parameters_panel(const ResultInput& result, std::size_t most) {
  const double base = result.json["step_ps"].number_or_unknown();
  PanelColumn key = text_column("parameter"), low = number_column("with less of it", "%"),
              high = number_column("with more of it", "%"), elasticity = number_column("elasticity", ""),
              value = text_column("value"), evidence = text_column("evidence"), less = text_column("less"),
              more = text_column("more");
  for (const JsonValue& parameter : result.json["parameters"].list()) {
    if (key.size() == most) break;
    texts(key).push_back(parameter["key"].text());
    numbers(low).push_back(change_percent(parameter["low"], base));
    numbers(high).push_back(change_percent(parameter["high"], base));
    numbers(elasticity).push_back(parameter["elasticity"].number_or_unknown());
    texts(value).push_back(parameter["value"].text());
    texts(evidence).push_back(parameter["evidence"].text());
    texts(less).push_back(parameter["low"]["value"].text());
    texts(more).push_back(parameter["high"]["value"].text());
  }
  return {.columns = {key, low, high, elasticity, value, evidence, less, more}, .wide = true};
}

}  // namespace

ReportSection sensitivity_header(const ResultInput& input) {
  const JsonValue& json = input.json;
  const std::vector<JsonValue>& parameters = json["parameters"].list();
  const double share = json["share"].number().value_or(0.0);
  ReportSection section{
      .title = json["scenario"].text(),
      .subtitle = fmt::format("Every physical parameter changed alone by {} down and up", percent_text(share))};
  section.figures = {
      {.name = "Step time", .value = seconds_text(json["step_ps"].number().value_or(0.0) / 1e12)},
      {.name = "Parameters with effect", .value = count_text(static_cast<double>(parameters.size()))},
      {.name = "Without effect", .value = count_text(static_cast<double>(json["without_effect"].list().size()))}};
  if (!parameters.empty()) {
    section.sentences.push_back(fmt::format("The step time depends most on {}: its elasticity is {:+.2f}.",
                                            parameters.front()["key"].text(),
                                            parameters.front()["elasticity"].number().value_or(0.0)));
  }
  const auto assumed = std::ranges::find_if(
      parameters, [](const JsonValue& parameter) { return parameter["evidence"].text() == "assumed"; });
  if (assumed != parameters.end()) {
    section.sentences.push_back(fmt::format(
        "Of the values that are assumed, {} matters most ({}, elasticity {:+.2f}): measure it first.",
        (*assumed)["key"].text(), (*assumed)["value"].text(), (*assumed)["elasticity"].number().value_or(0.0)));
  }
  return section;
}

std::vector<Panel> sensitivity_tornado(const ResultInput& result) {
  Panel panel = parameters_panel(result, kMostTornadoBars);
  if (panel.columns.front().size() == 0) return {};
  panel.id = "tornado";
  panel.title = "Change of the step time";
  panel.sentence = "The strongest parameters; each bar is one parameter changed alone, and everything else as it is.";
  panel.chart = Chart::kTornado;
  if (result.json["parameters"].list().size() > kMostTornadoBars) {
    panel.note = fmt::format("The first {} of {} parameters; all are in the table below.", kMostTornadoBars,
                             result.json["parameters"].list().size());
  }
  return {panel};
}

std::vector<Panel> sensitivity_parameters(const ResultInput& result) {
  Panel panel = parameters_panel(result, std::numeric_limits<std::size_t>::max());
  if (panel.columns.front().size() == 0) return {};
  panel.id = "parameters";
  panel.title = "All parameters with an effect";
  panel.sentence = "The elasticity is the relative change of the step time over that of the parameter.";
  panel.chart = Chart::kTable;
  return {panel};
}

}  // namespace ringwright::planning
