// Bus bandwidth of a collective by message size.
#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {

ReportSection collective_header(const ResultInput& input) {
  const JsonValue& result = input.json;
  ReportSection section{
      .title =
          fmt::format("{} on {} ranks", result["operation"].text(), count_text(result["ranks"].number().value_or(0.0))),
      .subtitle =
          fmt::format("{} hosts of {}, fabric {}, network model {}", count_text(result["hosts"].number().value_or(0.0)),
                      result["gpu"].text(), result["fabric"].text(), result["network"].text())};
  double best = 0.0, best_size = 0.0, least = 0.0;
  for (const JsonValue& row : result["results"].list()) {
    const double busbw = row["busbw_GBps"].number().value_or(0.0);
    const double time = row["time_us"].number().value_or(0.0);
    if (busbw > best) best_size = row["size"].number().value_or(0.0);
    best = std::max(best, busbw);
    least = least > 0.0 ? std::min(least, time) : time;
  }
  section.figures.push_back({.name = "Highest bus bandwidth",
                             .value = fmt::format("{:.4g} GB/s", best),
                             .remark = "at " + bytes_text(best_size)});
  section.figures.push_back({.name = "Shortest time", .value = seconds_text(least / 1e6), .remark = "of all sizes"});
  section.command = {"ringwright", "collective", result["simulated"]["cluster"].text(), result["operation"].text()};
  for (const JsonValue& setting : result["simulated"]["set"].list()) {
    section.command.emplace_back("--set");
    section.command.push_back(setting.text());
  }
  const std::vector<JsonValue>& rows = result["results"].list();
  if (!rows.empty()) {
    section.command.insert(section.command.end(),
                           {"-b", fmt::format("{:.0f}", rows.front()["size"].number().value_or(0.0)), "-e",
                            fmt::format("{:.0f}", rows.back()["size"].number().value_or(0.0))});
  }
  return section;
}

std::vector<Panel> bandwidth_curve(const ResultInput& result) {
  const std::vector<JsonValue>& rows = result.json["results"].list();
  if (rows.empty()) return {};
  PanelColumn series = text_column("series"), size = number_column("message size", "B"),
              busbw = number_column("bus bandwidth", "GB/s"), time = number_column("time", "us"),
              algbw = number_column("algorithm bandwidth", "GB/s"), algorithm = text_column("algorithm"),
              protocol = text_column("protocol"), channels = number_column("channels", "");
  for (const JsonValue& row : rows) {
    texts(series).emplace_back("simulated");
    numbers(size).push_back(row["size"].number_or_unknown());
    numbers(busbw).push_back(row["busbw_GBps"].number_or_unknown());
    numbers(time).push_back(row["time_us"].number_or_unknown());
    numbers(algbw).push_back(row["algbw_GBps"].number_or_unknown());
    texts(algorithm).push_back(row["algorithm"].text());
    texts(protocol).push_back(row["protocol"].text());
    numbers(channels).push_back(row["channels"].number_or_unknown());
  }
  return {Panel{.id = "bandwidth",
                .title = "Bus bandwidth by message size",
                .sentence = "Bus bandwidth is what the slowest link must carry, as nccl-tests define it: it can be "
                            "compared with the speed of the hardware whatever the number of ranks.",
                .chart = Chart::kLines,
                .columns = {series, size, busbw, time, algbw, algorithm, protocol, channels},
                .x_scale = AxisScale::kLogarithmic,
                .wide = true}};
}

}  // namespace ringwright::planning
