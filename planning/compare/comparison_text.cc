// A comparison for people, as a waterfall, and for programs, as JSON.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"
#include "planning/compare/comparison.h"
#include "planning/study/point_json.h"

namespace ringwright::planning {
namespace {

constexpr std::size_t kBarWidth = 24;

// "A", "B", ... "Z", "27".
std::string letter(std::size_t index) {
  return index < 26 ? std::string(1, static_cast<char>('A' + index)) : std::to_string(index + 1);
}

std::string heads_text(const SideBySide& both) {
  TextTable table({Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  const std::string& processed = both.sides.front().figures.processed;
  const bool same = std::ranges::all_of(
      both.sides, [&](const ComparedStep& side) { return side.figures.processed == processed; });
  table.add_row({"", "", "step", (same ? processed : "tokens or samples") + "/s/GPU", "against A", ""});
  const Duration first = both.sides.front().figures.step;
  for (std::size_t i = 0; i < both.sides.size(); ++i) {
    const ComparedStep& side = both.sides[i];
    table.add_row({letter(i), side.name, to_string(side.figures.step),
                   four_digits(side.figures.tokens_per_second_per_gpu),
                   i == 0 ? "" : percent_of(side.figures.step - first, first), side.source});
  }
  return join(table.lines(), "\n") + "\n";
}

std::string waterfall_text(const SideBySide& both, const StepDifference& comparison) {
  const Duration before = both.sides.front().figures.step;
  const Duration after = both.sides[comparison.other].figures.step;
  const std::string name = letter(comparison.other);
  Duration largest;
  for (const PartChange& part : comparison.changes) {
    largest = std::max({largest, part.change(), Duration() - part.change()});
  }
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.add_row({"From A to " + name, "A", name, "change", "of A", ""});
  for (const PartChange& part : comparison.changes) {
    table.add_row({part.cause, to_string(part.before), to_string(part.after), signed_text(part.change()),
                   percent_of(part.change(), before), signed_bar(part.change(), largest, kBarWidth)});
  }
  table.add_row({"step time", to_string(before), to_string(after), signed_text(after - before),
                 percent_of(after - before, before), ""});
  return join(table.lines(), "\n") + "\n";
}

std::string values_text(const StepDifference& comparison, std::size_t width) {
  if (comparison.values.empty()) return "No value differs.\n";
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft});
  const std::size_t cell = std::max<std::size_t>(16, width / 4);
  table.add_row({"Values that differ", "A", letter(comparison.other)});
  for (const DifferentValue& value : comparison.values) {
    std::string before = shorten_end(value.before, cell), after = shorten_end(value.after, cell);
    if (before == after) {  // the difference is at the end
      before = value.before;
      after = value.after;
    }
    table.add_row({value.key, before.empty() ? "-" : before, after.empty() ? "-" : after});
  }
  return join(table.lines(), "\n") + "\n";
}

std::string json_side(const ComparedStep& side) {
  return fmt::format(
      "{{\"name\": {}, \"source\": {}, \"step_time_s\": {}, \"step_ps\": {}, \"tokens_per_s_per_gpu\": {}{}, "
      "\"mfu\": {}, \"gpus\": {}, \"parts_ps\": {}}}",
      json_text(side.name), json_text(side.source), static_cast<double>(side.figures.step.count()) / 1e12,
      side.figures.step.count(), side.figures.tokens_per_second_per_gpu, json_processed(side.figures.processed),
      json_number(side.figures.model_flop_utilisation), side.figures.gpus, json_parts(side.figures.parts));
}

std::string json_difference(const SideBySide& both, const StepDifference& comparison) {
  std::vector<std::string> changes, values;
  for (const PartChange& part : comparison.changes) {
    changes.push_back(fmt::format("{{\"cause\": {}, \"ps\": {}}}", json_text(part.cause), part.change().count()));
  }
  for (const DifferentValue& value : comparison.values) {
    values.push_back(fmt::format("{{\"key\": {}, \"a\": {}, \"b\": {}}}", json_text(value.key),
                                 value.before.empty() ? "null" : json_text(value.before),
                                 value.after.empty() ? "null" : json_text(value.after)));
  }
  const Duration change = both.sides[comparison.other].figures.step - both.sides.front().figures.step;
  return fmt::format("{{\"from\": 0, \"to\": {}, \"change_ps\": {}, \"changes_ps\": [{}], \"values\": [{}]}}",
                     comparison.other, change.count(), join(changes, ", "), join(values, ", "));
}

}  // namespace

std::string render_comparison_text(const SideBySide& both, std::size_t width) {
  std::string text = heads_text(both);
  for (const StepDifference& comparison : both.comparisons) {
    text += "\n" + waterfall_text(both, comparison) + "\n" + values_text(comparison, width);
  }
  return text;
}

std::string render_comparison_json(const SideBySide& both) {
  std::vector<std::string> sides, differences;
  for (const ComparedStep& side : both.sides) sides.push_back(json_side(side));
  for (const StepDifference& comparison : both.comparisons) differences.push_back(json_difference(both, comparison));
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.compare/1\",\n  \"tool\": {{\"name\": \"ringwright\", \"version\": {}}},\n"
      "  \"sides\": [\n    {}\n  ],\n  \"differences\": [\n    {}\n  ]\n}}\n",
      json_text(RINGWRIGHT_VERSION), join(sides, ",\n    "), join(differences, ",\n    "));
}

}  // namespace ringwright::planning
