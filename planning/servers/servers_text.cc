// Results of parameter servers, as text and as JSON.
#include <vector>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"
#include "planning/servers/servers.h"

namespace ringwright::planning {
namespace {

std::string of_time(double share) { return fmt::format("{:.1f} %", share * 100.0); }

}  // namespace

std::string render_servers_text(const ServersResult& result) {
  std::string text =
      fmt::format("{}: {} worker host{}, {} parameter server{}; a worker computes {}\n\n", result.scenario,
                  result.workers, result.workers == 1 ? "" : "s", result.servers, result.servers == 1 ? "" : "s",
                  to_string(result.computing));
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight});
  table.add_row({"updates", "samples/s", "step", "staleness", "most", "waiting", "exchanging", "server busy", "queue"});
  for (const ServersRow& row : result.rows) {
    table.add_row({row.updates, fmt::format("{:.1f}", row.samples_per_second), to_string(row.step),
                   fmt::format("{:.2f}", row.mean_staleness), std::to_string(row.most_staleness), of_time(row.waiting),
                   of_time(row.exchanging), of_time(row.server_busy), std::to_string(row.longest_queue)});
  }
  table.add_row({"ring all-reduce", fmt::format("{:.1f}", result.ring_samples_per_second), to_string(result.ring), "",
                 "", "", "", "", ""});
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  return text;
}

std::string render_servers_json(const ServersResult& result) {
  std::vector<std::string> rows;
  for (const ServersRow& row : result.rows) {
    rows.push_back(fmt::format(
        "{{\"updates\": {}, \"samples_per_s\": {}, \"step_ps\": {}, \"slowest_of_fastest\": {}, "
        "\"mean_staleness\": {}, \"most_staleness\": {}, \"waiting\": {}, \"exchanging\": {}, "
        "\"server_busy\": {}, \"longest_queue\": {}}}",
        json_text(row.updates), row.samples_per_second, row.step.count(), row.slowest_share, row.mean_staleness,
        row.most_staleness, row.waiting, row.exchanging, row.server_busy, row.longest_queue));
  }
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.servers/1\",\n  \"tool\": {{\"name\": \"ringwright\", \"version\": {}}},\n"
      "  \"scenario\": {}, \"workers\": {}, \"servers\": {}, \"computing_ps\": {},\n  \"ring\": {{\"step_ps\": {}, "
      "\"samples_per_s\": {}}},\n  \"rows\": [\n    {}\n  ]\n}}\n",
      json_text(RINGWRIGHT_VERSION), json_text(result.scenario), result.workers, result.servers,
      result.computing.count(), result.ring.count(), result.ring_samples_per_second, join(rows, ",\n    "));
}

}  // namespace ringwright::planning
