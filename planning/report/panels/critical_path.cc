// The chain of tasks that bounds the step, and what each stage waits for.
#include <algorithm>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

constexpr std::size_t kMostWaits = 100;

double seconds_of(const JsonValue& picoseconds) {
  return picoseconds.number_or_unknown() / 1e12;
}

Panel path_by_kind(const JsonValue& path) {
  const double step = seconds_of(path["time_ps"]);
  const UnitScale scale = time_scale(step);
  PanelColumn name = text_column("part"), time = number_column("time", std::string(scale.unit)),
              share = number_column("share of the step", "%"), count = number_column("tasks", "");
  bool has_host = false;
  for (const JsonValue& kind : path["kinds"].list()) {
    texts(name).push_back(kind["kind"].text());
    numbers(time).push_back(seconds_of(kind["time_ps"]) * scale.factor);
    numbers(share).push_back(100.0 * seconds_of(kind["time_ps"]) / step);
    numbers(count).push_back(kind["tasks"].number_or_unknown());
    has_host = has_host || kind["kind"].text() == "host";
  }
  return {.id = "critical-path",
          .title = "Critical path of the step",
          .sentence = "The chain of tasks in which each one waited for the one before, over all simulated ranks. Only "
                      "what is on it shortens the step; its parts add up to the step time.",
          .chart = Chart::kWaterfall,
          .columns = {name, time, share, count},
          .note = has_host ? "Host: a task is ready, and its host has not issued it yet." : ""};
}

Panel path_legs(const JsonValue& path) {
  const UnitScale scale = time_scale(seconds_of(path["time_ps"]));
  const std::string unit(scale.unit);
  PanelColumn stage = text_column("stage"), rank = number_column("rank", ""), what = text_column("tasks"),
              from = number_column("start", unit), to = number_column("end", unit),
              takes = number_column("takes", unit), computing = number_column("computing", unit),
              communication = number_column("communication", unit), count = number_column("number of tasks", "");
  for (const JsonValue& leg : path["legs"].list()) {
    const double start = seconds_of(leg["start_ps"]), end = seconds_of(leg["end_ps"]);
    texts(stage).push_back(leg["role"].text());
    numbers(rank).push_back(leg["rank"].number_or_unknown());
    texts(what).push_back(leg["what"].text());
    numbers(from).push_back(start * scale.factor);
    numbers(to).push_back(end * scale.factor);
    numbers(takes).push_back((end - start) * scale.factor);
    numbers(computing).push_back(seconds_of(leg["computing_ps"]) * scale.factor);
    numbers(communication).push_back(seconds_of(leg["communication_ps"]) * scale.factor);
    numbers(count).push_back(leg["tasks"].number_or_unknown());
  }
  const double left_out = path["legs_left_out"].number().value_or(0.0);
  return {.id = "critical-path-tasks",
          .title = "Critical path, rank by rank",
          .sentence = "In the order of time: what runs on one rank until the path goes to another. F3.0 is the "
                      "forward pass of microbatch 3 through model chunk 0, B its backward pass.",
          .columns = {stage, rank, what, from, to, takes, computing, communication, count},
          .wide = true,
          .note = left_out > 0.0 ? "The first rows are shown; " + count_text(left_out) + " more follow." : ""};
}

Panel longest_waits(const JsonValue& path) {
  const std::vector<JsonValue>& waits = path["waits"].list();
  const UnitScale scale = time_scale(waits.empty() ? 0.0 : waits.front()["total_s"].number_or_unknown());
  const std::string unit(scale.unit);
  PanelColumn words = text_column("wait"), stage = text_column("stage"), time = number_column("time", unit),
              count = number_column("times", ""), longest = number_column("longest", unit),
              from = number_column("first at", unit);
  for (std::size_t i = 0; i < std::min(waits.size(), kMostWaits); ++i) {
    texts(words).push_back(waits[i]["words"].text());
    texts(stage).push_back(waits[i]["role"].text());
    numbers(time).push_back(waits[i]["total_s"].number_or_unknown() * scale.factor);
    numbers(count).push_back(waits[i]["count"].number_or_unknown());
    numbers(longest).push_back(waits[i]["longest_s"].number_or_unknown() * scale.factor);
    numbers(from).push_back(waits[i]["first_s"].number_or_unknown() * scale.factor);
  }
  return {.id = "waits",
          .title = "What stages wait for",
          .sentence = "Times in which the first GPU of a stage computes nothing, with what takes most of them; those "
                      "for the same thing are one row.",
          .columns = {words, stage, time, count, longest, from},
          .wide = true,
          .note = waits.size() > kMostWaits ? "The longest " + count_text(kMostWaits) + " of " +
                                                  count_text(static_cast<double>(waits.size())) + " rows."
                                            : ""};
}

}  // namespace

std::vector<Panel> critical_path(const ResultInput& result) {
  const JsonValue& path = result.json["critical_path"];
  if (path["kinds"].list().empty()) return {};
  return {path_by_kind(path), longest_waits(path), path_legs(path)};
}

}  // namespace ringwright::planning
