// The plans of parameter servers that were tried: samples per second by the number of servers, and in their order.
#include <algorithm>

#include "planning/report/builtin_panels.h"

namespace ringwright::planning {
namespace {

// Words for what became of a plan; the job begins with the first.
std::string_view fate(std::size_t number, const JsonValue& plan) {
  if (number == 0) return "the scenario's";
  return plan["taken"].is_true() ? "the job moved to it" : "not taken";
}

}  // namespace

std::vector<Panel> server_plan_speeds(const ResultInput& result) {
  struct Row {
    double servers;
    double workers;
    double speed;
    std::string fate;
  };
  std::vector<Row> rows;
  const std::vector<JsonValue>& tried = result.json["tried"].list();
  for (std::size_t i = 0; i < tried.size(); ++i) {
    rows.push_back({tried[i]["servers"].number_or_unknown(), tried[i]["workers"].number_or_unknown(),
                    tried[i]["samples_per_s"].number_or_unknown(), std::string(fate(i, tried[i]))});
  }
  if (rows.empty()) return {};
  // A line through all, and the plans that the job had as points.
  std::ranges::stable_sort(rows, {}, &Row::servers);
  PanelColumn series = text_column("plans"), servers = number_column("servers", ""),
              speed = number_column("speed", "samples/s"), workers = number_column("workers", "hosts"),
              became = text_column("what became of it");
  const auto add = [&](const std::string& name, const Row& row) {
    texts(series).push_back(name);
    numbers(servers).push_back(row.servers);
    numbers(speed).push_back(row.speed);
    numbers(workers).push_back(row.workers);
    texts(became).push_back(row.fate);
  };
  for (const Row& row : rows) add("tried", row);
  for (const Row& row : rows) {
    if (row.fate != "not taken") add("of the job", row);
  }
  return {Panel{.id = "server-plans",
                .title = "Speed by the number of servers",
                .sentence = "Samples per second of each plan on the same hosts; points are the plans that the job had.",
                .chart = Chart::kLines,
                .columns = {series, servers, speed, workers, became},
                .drawn_as_points = {"of the job"},
                .wide = true}};
}

std::vector<Panel> server_plan_table(const ResultInput& result) {
  PanelColumn order = number_column("order", ""), servers = number_column("servers", "hosts"),
              workers = number_column("workers", "hosts"), speed = number_column("speed", "samples/s"),
              relative = number_column("of the scenario's", "%"), became = text_column("what became of it");
  const std::vector<JsonValue>& tried = result.json["tried"].list();
  for (std::size_t i = 0; i < tried.size(); ++i) {
    numbers(order).push_back(static_cast<double>(i + 1));
    numbers(servers).push_back(tried[i]["servers"].number_or_unknown());
    numbers(workers).push_back(tried[i]["workers"].number_or_unknown());
    numbers(speed).push_back(tried[i]["samples_per_s"].number_or_unknown());
    numbers(relative).push_back(100.0 * tried[i]["samples_per_s"].number_or_unknown() /
                                tried[0]["samples_per_s"].number_or_unknown());
    texts(became).emplace_back(fate(i, tried[i]));
  }
  if (order.size() == 0) return {};
  return {Panel{.id = "server-plan-order",
                .title = "Plans in the order in which they were tried",
                .sentence = "Half, twice, one less and one more server than the job has, until none gains 1 %.",
                .columns = {order, servers, workers, speed, relative, became},
                .wide = true}};
}

}  // namespace ringwright::planning
