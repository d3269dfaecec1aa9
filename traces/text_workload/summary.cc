#include "traces/text_workload/summary.h"

#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "traces/text_workload/text_workload.h"

namespace ringwright::traces {
namespace {

std::string_view group_word(TextGroup group, std::string_view of_phase) {
  switch (group) {
    case TextGroup::kOfPhase: return of_phase;
    case TextGroup::kExpert: return "ep";
    case TextGroup::kExpertData: return "dp_ep";
  }
  return of_phase;
}

struct CallTotal {
  std::int64_t calls = 0;
  Bytes bytes;
};

}  // namespace

FileSummary summarise_text_workload(const std::string& path) {
  FileSummary summary;
  auto workload = read_text_workload(path);
  if (!workload) {
    summary.problems = std::move(workload.error());
    return summary;
  }
  summary.facts = {{.name = "loop", .value = std::string(to_string(workload->loop))},
                   {.name = "layers", .value = static_cast<std::int64_t>(workload->layers.size())}};
  const auto fact = [&summary](const char* name, const std::optional<std::int64_t>& value) {
    if (value) summary.facts.push_back({.name = name, .value = *value});
  };
  fact("GPUs", workload->gpus);
  fact("tensor parallelism", workload->tensor);
  fact("expert parallelism", workload->expert);
  fact("pipeline stages", workload->pipeline);
  fact("gradient accumulation", workload->accumulation);
  Duration computing;
  std::map<std::pair<std::string, std::string>, CallTotal> totals;  // by communication and group
  for (const TextLayer& layer : workload->layers) {
    for (const TextPhase* const phase : {&layer.forward, &layer.input_gradient, &layer.weight_gradient}) {
      computing += phase->compute;
      if (phase->call.bytes == Bytes(0)) continue;
      const bool weights = phase == &layer.weight_gradient;
      const std::string_view group = group_word(phase->call.group, weights ? "dp" : "tp");
      CallTotal& total = totals[{std::string(to_string(phase->call.kind)), std::string(group)}];
      ++total.calls;
      total.bytes += phase->call.bytes;
    }
  }
  summary.facts.push_back({.name = "computing", .value = computing});
  SummaryTable table{.title = "communication", .columns = {"collective", "group", "calls", "bytes"}, .rows = {}};
  for (const auto& [call, total] : totals) table.rows.push_back({call.first, call.second, total.calls, total.bytes});
  summary.tables.push_back(std::move(table));
  return summary;
}

}  // namespace ringwright::traces
