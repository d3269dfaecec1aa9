// The summary of traces as one JSON object.
#include <fmt/format.h>

#include "core/base/json_text.h"
#include "traces/kineto/kineto_summary.h"

namespace ringwright::traces {
namespace {

std::string us_json(Duration time) {
  return fmt::format("{:.6g}", to_seconds(time) * 1e6);
}

std::string json_of(const TimeShares& shares) {
  return fmt::format(
      "{{\"name\": {}, \"span_us\": {}, \"computing_us\": {}, \"communication_us\": {}, \"exposed_us\": {}, "
      "\"copies_alone_us\": {}, \"idle_us\": {}}}",
      json_text(shares.name), us_json(shares.span), us_json(shares.computing), us_json(shares.communicating),
      us_json(shares.exposed), us_json(shares.copying), us_json(shares.idle));
}

std::string json_of_rank(const KinetoTrace& trace, const KinetoBreakdown& breakdown) {
  std::vector<std::string> steps, families;
  for (const TimeShares& step : breakdown.steps) steps.push_back(json_of(step));
  for (const FamilyTime& family : breakdown.families) {
    families.push_back(fmt::format("{{\"family\": {}, \"count\": {}, \"us\": {}}}", json_text(to_string(family.family)),
                                   family.count, us_json(family.time)));
  }
  return fmt::format("    {{\"rank\": {}, \"file\": {}, \"whole\": {}, \"steps\": [{}], \"families\": [{}]}}",
                     trace.calls.rank, json_text(trace.file), json_of(breakdown.whole), fmt::join(steps, ", "),
                     fmt::join(families, ", "));
}

}  // namespace

std::string kineto_summary_json(const KinetoSummary& summary) {
  std::vector<std::string> ranks, rows, late;
  for (std::size_t i = 0; i < summary.ranks.size(); ++i) {
    ranks.push_back(json_of_rank(summary.ranks[i], summary.breakdowns[i]));
  }
  for (const CallRow& row : summary.rows) rows.push_back("    " + call_row_json(row));
  for (const RankLateness& rank : summary.joined.ranks) {
    late.push_back("    " + lateness_json(rank));
  }
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.inspect.kineto/1\",\n  \"gpu\": {},\n  \"ranks\": [\n{}\n  ],\n  "
      "\"collectives\": [\n{}\n  ],\n  \"lateness\": [\n{}\n  ]\n}}\n",
      json_text(summary.ranks.front().gpu), fmt::join(ranks, ",\n"), fmt::join(rows, ",\n"), fmt::join(late, ",\n"));
}

}  // namespace ringwright::traces
