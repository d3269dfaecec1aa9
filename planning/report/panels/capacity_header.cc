// The head of a capacity study: the best machine within the budget, and what became of the others.
#include <algorithm>

#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/capacity_offers.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

std::string budget_text(const JsonValue& budget) {
  std::string text;
  const auto add = [&](std::string_view key, std::string_view unit) {
    const auto limit = budget[key].number();
    if (limit) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count_text(*limit), unit);
  };
  add("days", "days");
  add("usd", "USD");
  add("megawatt_hours", "MWh");
  add("gpus", "GPUs");
  return text;
}

}  // namespace

ReportSection capacity_header(const ResultInput& input) {
  const JsonValue& study = input.json;
  const std::vector<JsonValue>& offers = study["offers"].list();
  ReportSection section{
      .title = study["name"].text(),
      .subtitle = fmt::format("Machines for {:.3g} tokens of {}, by {}, with a goodput of {}",
                              study["tokens"].number_or_unknown(), study["scenario"].text(), study["objective"].text(),
                              percent_text(study["goodput"].number_or_unknown()))};
  const std::vector<const JsonValue*> ranked = ranked_offers(study);
  if (!ranked.empty()) {
    const JsonValue& best = *ranked.front();
    section.figures.push_back({.name = "Best machine", .value = offer_name(best), .remark = offer_layout(best)});
    section.figures.push_back({.name = "Training takes",
                               .value = fmt::format("{:.4g} days", best["days"].number_or_unknown()),
                               .remark = seconds_text(best["step_ps"].number_or_unknown() * 1e-12) + " a step"});
    if (const auto usd = best["usd"].number()) {
      section.figures.push_back({.name = "Cost", .value = count_text(*usd) + " USD"});
    }
    if (const auto energy = best["megawatt_hours"].number()) {
      section.figures.push_back({.name = "Energy", .value = count_text(*energy) + " MWh"});
    }
  }
  const auto with = [&](std::string_view status) {
    return std::ranges::count_if(offers, [&](const JsonValue& one) { return one["status"].text() == status; });
  };
  section.sentences.push_back(fmt::format(
      "{} of {} machines and sizes are within the budget; {} are over it, {} do not fit into memory, {} are refused.",
      with("ok"), offers.size(), with("over_budget"), with("too_large"), with("refused")));
  if (const std::string budget = budget_text(study["budget"]); !budget.empty()) {
    section.sentences.push_back("The budget is at most " + budget + ".");
  }
  return section;
}

}  // namespace ringwright::planning
