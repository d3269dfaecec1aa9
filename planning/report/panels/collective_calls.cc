// The collectives of a step: what was called, what the library chose, how long a call takes.
#include <cmath>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {

std::vector<Panel> collective_calls(const ResultInput& result) {
  const std::vector<JsonValue>& calls = result.json["collectives"].list();
  if (calls.empty()) return {};
  PanelColumn dimension = text_column("dimension"), operation = text_column("operation"),
              size = number_column("size", "B"), ranks = number_column("ranks", ""), hosts = number_column("hosts", ""),
              count = number_column("calls per step", ""), algorithm = text_column("algorithm"),
              protocol = text_column("protocol"), channels = number_column("channels", ""),
              shortest = number_column("shortest", "us"), mean = number_column("mean, with waiting", "us");
  for (const JsonValue& call : calls) {
    texts(dimension).push_back(call["dim"].text());
    texts(operation).push_back(call["operation"].text());
    numbers(size).push_back(call["bytes"].number_or_unknown());
    numbers(ranks).push_back(call["ranks"].number_or_unknown());
    numbers(hosts).push_back(call["hosts"].number_or_unknown());
    numbers(count).push_back(call["calls_per_step"].number_or_unknown());
    texts(algorithm).push_back(call["algorithm"].text());
    texts(protocol).push_back(call["protocol"].text());
    numbers(channels).push_back(call["channels"].number_or_unknown());
    numbers(shortest).push_back(call["shortest_s"].number_or_unknown() * 1e6);
    numbers(mean).push_back(call["mean_s"].number_or_unknown() * 1e6);
  }
  return {
      Panel{.id = "collectives",
            .title = "Collectives of a step",
            .sentence = "Calls of the rank that makes most of them, with the algorithm, protocol and channels that "
                        "were chosen. The shortest time is that of the rank that joined last; a mean far above it "
                        "is waiting for others.",
            .chart = Chart::kTable,
            .columns = {dimension, operation, size, ranks, hosts, count, algorithm, protocol, channels, shortest, mean},
            .wide = true}};
}

}  // namespace ringwright::planning
