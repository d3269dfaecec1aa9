// What a capacity study found, for people: machines within the budget, best first, and why the others are not.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/report/text_table.h"
#include "planning/capacity/capacity.h"

namespace ringwright::planning {
namespace {

constexpr std::size_t kReasonWidth = 90;
constexpr std::size_t kFrontShown = 12;
constexpr std::size_t kNoteWidth = 96;

// Axes of the best layouts of the ranking, in the order of the search.
struct RankedAxes {
  std::vector<std::string> differing;
  std::vector<LayoutChoice> common;  // with the one value that all have
};

RankedAxes axes_of(const CapacityResult& result) {
  std::vector<std::string> axes;
  std::map<std::string, std::set<std::string>> values;
  for (const std::size_t index : result.ranking) {
    for (const LayoutChoice& choice : result.offers[index].layout) {
      if (std::ranges::find(axes, choice.axis) == axes.end()) axes.push_back(choice.axis);
      values[choice.axis].insert(choice.value);
    }
  }
  RankedAxes ranked;
  for (const std::string& axis : axes) {
    if (values[axis].size() > 1)
      ranked.differing.push_back(axis);
    else
      ranked.common.push_back({.axis = axis, .value = *values[axis].begin()});
  }
  return ranked;
}

std::string value_of_axis(const Offer& offer, const std::string& axis) {
  const auto found = std::ranges::find(offer.layout, axis, &LayoutChoice::axis);
  return found == offer.layout.end() ? "-" : found->value;
}

// Whole, where at least two digits remain.
std::string amount(const std::optional<double>& value) {
  if (!value) return "-";
  return *value < 10.0 ? fmt::format("{:.4g}", *value) : with_commas(std::llround(*value));
}

std::vector<std::string> budget_words(const CapacityBudget& budget) {
  std::vector<std::string> words;
  if (budget.days) words.push_back(fmt::format("{:.4g} days", *budget.days));
  if (budget.usd) words.push_back("$" + amount(budget.usd));
  if (budget.megawatt_hours) words.push_back(fmt::format("{:.4g} MWh", *budget.megawatt_hours));
  if (budget.gpus) words.push_back(with_commas(*budget.gpus) + " GPUs");
  return words;
}

std::vector<std::string> ranking_table(const CapacityPlan& plan, const CapacityResult& result) {
  const RankedAxes ranked = axes_of(result);
  const std::vector<std::string>& axes = ranked.differing;
  const auto has = [&result](std::optional<double> Offer::*what) {
    return std::ranges::any_of(result.ranking, [&](std::size_t i) { return (result.offers[i].*what).has_value(); });
  };
  const bool costs = has(&Offer::usd);
  const bool energy = has(&Offer::megawatt_hours);
  std::vector<std::string> head{"machine", "hosts", "GPUs"};
  head.insert(head.end(), axes.begin(), axes.end());
  for (const char* title : {"step", "tokens/s", "MFU", "memory", "days"}) head.emplace_back(title);
  if (costs) head.emplace_back("$");
  if (energy) head.emplace_back("MWh");
  head.emplace_back("front");
  std::vector<Align> columns(head.size(), Align::kRight);
  columns.front() = columns.back() = Align::kLeft;
  TextTable table(columns);
  table.add_row(head);
  for (const std::size_t index : result.ranking) {
    const Offer& offer = result.offers[index];
    const StepFigures& step = offer.figures;
    std::vector<std::string> cells{plan.machines[offer.machine].name, with_commas(offer.hosts),
                                   with_commas(offer.gpus)};
    for (const std::string& axis : axes) cells.push_back(value_of_axis(offer, axis));
    cells.push_back(to_string(step.step));
    cells.push_back(with_commas(std::llround(step.tokens_per_second())));
    const auto& use = step.model_flop_utilisation;
    cells.push_back(use ? fmt::format("{:.1f} %", *use * 100.0) : "-");
    cells.push_back(to_string(step.memory));
    cells.push_back(fmt::format("{:.4g}", offer.days));
    if (costs) cells.push_back(amount(offer.usd));
    if (energy) cells.push_back(amount(offer.megawatt_hours));
    cells.emplace_back(offer.on_front ? "yes" : "");
    table.add_row(std::move(cells));
  }
  std::vector<std::string> lines = table.lines();
  if (!ranked.common.empty()) {
    lines.push_back((result.ranking.size() > 1 ? "on each: " : "layout: ") + layout_words(ranked.common));
  }
  return lines;
}

// Settings without effect, by machine: at several numbers of hosts once.
std::vector<std::string> note_lines(const CapacityPlan& plan, const CapacityResult& result) {
  std::vector<std::string> lines;
  for (const Offer& offer : result.offers) {
    for (const std::string& note : offer.notes) {
      std::string line = wrap(fmt::format("{}: {}", plan.machines[offer.machine].name, note), kNoteWidth, 4);
      if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::vector<std::string> front_table(const CapacityPlan& plan, const CapacityResult& result) {
  const bool costs = std::ranges::any_of(result.front, [](const LayoutOffer& each) { return each.usd.has_value(); });
  TextTable table(
      {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.add_row({"machine", "GPUs", "step", "memory", "days", costs ? "$" : "", "layout"});
  for (const LayoutOffer& each : std::span(result.front).first(std::min(kFrontShown, result.front.size()))) {
    table.add_row({plan.machines[result.offers[each.offer].machine].name, with_commas(each.gpus), to_string(each.step),
                   to_string(each.memory), fmt::format("{:.4g}", each.days), costs ? amount(each.usd) : "",
                   layout_words(each.layout)});
  }
  return table.lines();
}

std::vector<std::string> other_table(const CapacityPlan& plan, const CapacityResult& result) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
  for (const Offer& offer : result.offers) {
    if (offer.status == OfferStatus::kOk) continue;
    std::string why = offer.status == OfferStatus::kOverBudget ? "over budget" : "does not fit";
    if (offer.status == OfferStatus::kRefused) why = offer.code.empty() ? "refused" : offer.code;
    table.add_row({plan.machines[offer.machine].name, offer.hosts > 0 ? with_commas(offer.hosts) : "-",
                   offer.gpus > 0 ? with_commas(offer.gpus) : "-",
                   why + ": " + shorten_end(offer.reason, kReasonWidth)});
  }
  return table.lines();
}

}  // namespace

std::string render_capacity_text(const CapacityPlan& plan, const CapacityResult& result) {
  std::string text = fmt::format("{}: {:.4g} tokens, the best layout on each of {} machines and sizes, by {}\n",
                                 plan.name, plan.tokens, result.offers.size(), to_string(plan.objective));
  text += plan.goodput < 1.0
              ? fmt::format("  goodput {:.4g} %: the rest of the time is lost to failures and checkpoints\n",
                            100.0 * plan.goodput)
              : "  without failures: `ringwright goodput` estimates the share of time that becomes progress, for "
                "`goodput`\n";
  const std::vector<std::string> budget = budget_words(plan.budget);
  if (!budget.empty()) text += "  budget: at most " + join(budget, ", ") + "\n";
  if (!result.ranking.empty()) {
    text += fmt::format("\n{} of {}{}\n", result.ranking.size(), result.offers.size(),
                        budget.empty() ? " can train it" : " within the budget");
    for (const std::string& line : ranking_table(plan, result)) text += "  " + line + "\n";
    text += "  front: Pareto front over days, GPUs and money\n";
  }
  if (!result.front.empty()) {
    text += fmt::format(
        "\nAll layouts on all machines: Pareto front over days, money, GPUs and memory (by formulas){}\n",
        result.front.size() > kFrontShown ? fmt::format("; the fastest {} of {}", kFrontShown, result.front.size())
                                          : "");
    for (const std::string& line : front_table(plan, result)) text += "  " + line + "\n";
  }
  const std::vector<std::string> notes = note_lines(plan, result);
  if (!notes.empty()) text += "\n";
  for (const std::string& line : notes) text += "  " + line + "\n";
  if (result.ranking.size() < result.offers.size()) {
    text += "\nExcluded\n";
    for (const std::string& line : other_table(plan, result)) text += "  " + line + "\n";
  }
  return text;
}

}  // namespace ringwright::planning
