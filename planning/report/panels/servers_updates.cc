// Ways in which parameter servers apply gradients: speed against an all-reduce and staleness, and the workers' time.
#include <algorithm>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

PanelMark ring_mark(const JsonValue& study) {
  return {.name = "ring all-reduce", .value = study["ring"]["samples_per_s"].number_or_unknown()};
}

}  // namespace

std::vector<Panel> servers_speeds(const ResultInput& result) {
  PanelColumn updates = text_column("updates"), speed = number_column("speed", "samples/s");
  for (const JsonValue& row : result.json["rows"].list()) {
    texts(updates).push_back(row["updates"].text());
    numbers(speed).push_back(row["samples_per_s"].number_or_unknown());
  }
  if (updates.size() == 0) return {};
  return {Panel{.id = "servers-speeds",
                .title = "Speed of each way to apply gradients",
                .sentence = "Samples of all workers per second; the line is a ring all-reduce over the workers' hosts, "
                            "at the pace of the slowest.",
                .chart = Chart::kBars,
                .columns = {updates, speed},
                .marks = {ring_mark(result.json)}}};
}

std::vector<Panel> servers_staleness(const ResultInput& result) {
  PanelColumn updates = text_column("updates"), stale = number_column("mean staleness", "updates"),
              speed = number_column("speed", "samples/s"), most = number_column("most", "updates");
  for (const JsonValue& row : result.json["rows"].list()) {
    texts(updates).push_back(row["updates"].text());
    numbers(stale).push_back(row["mean_staleness"].number_or_unknown());
    numbers(speed).push_back(row["samples_per_s"].number_or_unknown());
    numbers(most).push_back(row["most_staleness"].number_or_unknown());
  }
  if (updates.size() == 0) return {};
  return {Panel{.id = "servers-staleness",
                .title = "What speed costs in staleness",
                .sentence = "Updates of others that are applied between a worker's pull and its push. How much of that "
                            "training tolerates is not simulated.",
                .chart = Chart::kPoints,
                .columns = {updates, stale, speed, most},
                .marks = {ring_mark(result.json)}}};
}

// Shares of the time of all workers.
std::vector<Panel> servers_worker_time(const ResultInput& result) {
  PanelColumn updates = text_column("updates"), computing = number_column("computing", "% of the time"),
              waiting = number_column("waiting for the bound", "% of the time"),
              exchanging = number_column("exchanging parameters", "% of the time");
  for (const JsonValue& row : result.json["rows"].list()) {
    const double waits = row["waiting"].number_or_unknown();
    const double exchanges = row["exchanging"].number_or_unknown();
    texts(updates).push_back(row["updates"].text());
    numbers(computing).push_back(100.0 * (1.0 - waits - exchanges));
    numbers(waiting).push_back(100.0 * waits);
    numbers(exchanging).push_back(100.0 * exchanges);
  }
  if (updates.size() == 0) return {};
  return {Panel{.id = "servers-time",
                .title = "Where the workers' time goes",
                .sentence = "Computing, waiting for slower workers, and pushing and pulling what computing does not "
                            "hide.",
                .chart = Chart::kBars,
                .columns = {updates, computing, waiting, exchanging},
                .wide = true}};
}

std::vector<Panel> servers_table(const ResultInput& result) {
  const JsonValue& study = result.json;
  const std::vector<JsonValue>& rows = study["rows"].list();
  if (rows.empty()) return {};
  double longest = study["ring"]["step_ps"].number().value_or(0.0);
  for (const JsonValue& row : rows) longest = std::max(longest, row["step_ps"].number().value_or(0.0));
  const UnitScale scale = time_scale(longest * 1e-12);
  PanelColumn updates = text_column("updates"), speed = number_column("speed", "samples/s"),
              relative = number_column("of the ring's", "%"), step = number_column("step", std::string(scale.unit)),
              mean = number_column("staleness", "updates"), most = number_column("most stale", "updates"),
              slowest = number_column("steps of the slowest worker", "% of the fastest's"),
              busy = number_column("busiest server", "%"), queue = number_column("longest queue", "pushes");
  for (const JsonValue& row : rows) {
    texts(updates).push_back(row["updates"].text());
    numbers(speed).push_back(row["samples_per_s"].number_or_unknown());
    numbers(relative).push_back(100.0 * row["samples_per_s"].number_or_unknown() /
                                study["ring"]["samples_per_s"].number_or_unknown());
    numbers(step).push_back(row["step_ps"].number_or_unknown() * 1e-12 * scale.factor);
    numbers(mean).push_back(row["mean_staleness"].number_or_unknown());
    numbers(most).push_back(row["most_staleness"].number_or_unknown());
    numbers(slowest).push_back(100.0 * row["slowest_of_fastest"].number_or_unknown());
    numbers(busy).push_back(100.0 * row["server_busy"].number_or_unknown());
    numbers(queue).push_back(row["longest_queue"].number_or_unknown());
  }
  return {Panel{.id = "servers-rows",
                .title = "Speed, staleness and load of the servers",
                .sentence = "A full queue at a busy server asks for more servers (ringwright servers --plan), idle "
                            "ones for fewer.",
                .columns = {updates, speed, relative, step, mean, most, slowest, busy, queue},
                .wide = true}};
}

}  // namespace ringwright::planning
