// Bus bandwidth by message size as measured and as simulated: a panel for each log.
#include <algorithm>

#include <fmt/format.h>

#include "configs/simulation/collective_run.h"
#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

constexpr std::size_t kMostLogs = 12;

// One operation of nccl-tests; 1 where the operation is not known, so that the curve is that of the algorithm.
double factor_of(const JsonValue& log) {
  const auto operation = configs::parse_operation(log["operation"].text());
  const double ranks = log["ranks"].number().value_or(0.0);
  if (!operation || !(ranks >= 1.0) || ranks > 1e9) return 1.0;
  return configs::bus_factor(*operation, static_cast<int>(ranks));
}

Panel panel_of_log(const JsonValue& log, std::size_t number) {
  PanelColumn series = text_column("series"), size = number_column("message size", "B"),
              busbw = number_column("bus bandwidth", "GB/s"), time = number_column("time", "us"),
              algorithm = text_column("algorithm"), protocol = text_column("protocol");
  const double factor = factor_of(log);
  for (const std::string_view key : {"simulated_us", "measured_us"}) {
    for (const JsonValue& row : log["rows"].list()) {
      const double us = row[key].number_or_unknown();
      texts(series).emplace_back(key == "measured_us" ? "measured" : "simulated");
      numbers(size).push_back(row["size"].number_or_unknown());
      numbers(time).push_back(us);
      numbers(busbw).push_back(row["size"].number_or_unknown() / us / 1e3 * factor);
      texts(algorithm).push_back(key == "measured_us" ? "" : row["algorithm"].text());
      texts(protocol).push_back(key == "measured_us" ? "" : row["protocol"].text());
    }
  }
  return {
      .id = fmt::format("bandwidth-{}", number),
      .title = fmt::format("{} on {} ranks: {}", log["operation"].text(),
                           count_text(log["ranks"].number().value_or(0.0)), log["log"].text()),
      .sentence = fmt::format("Measured points over the simulated curve ({}, machine {}, log {}).",
                              log["profile"].text().empty() ? "makers' figures" : "profile " + log["profile"].text(),
                              log["machine"].text(), log["role"].text()),
      .chart = Chart::kLines,
      .columns = {series, size, busbw, time, algorithm, protocol},
      .x_scale = AxisScale::kLogarithmic,
      .drawn_as_points = {"measured"}};
}

}  // namespace

std::vector<Panel> measured_bandwidth(const ResultInput& result) {
  const std::vector<JsonValue>& logs = result.json["logs"].list();
  std::vector<Panel> panels;
  for (std::size_t i = 0; i < std::min(logs.size(), kMostLogs); ++i) panels.push_back(panel_of_log(logs[i], i + 1));
  if (logs.size() > kMostLogs) {
    panels.back().note =
        fmt::format("The first {} of {} logs; name fewer to `ringwright validate nccl`.", kMostLogs, logs.size());
  }
  return panels;
}

}  // namespace ringwright::planning
