// Checkpoints of embedding tables by policy, and what saving and recovery take of the time.
#include <algorithm>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

UnitScale checkpoint_scale(const std::vector<JsonValue>& policies) {
  double most = 0.0;
  for (const JsonValue& row : policies) {
    for (const std::string_view key : {"second_bytes", "mean_bytes", "kept_bytes"}) {
      most = std::max(most, row[key].number().value_or(0.0));
    }
  }
  return byte_scale(most);
}

}  // namespace

std::vector<Panel> embeddings_checkpoints(const ResultInput& result) {
  const std::vector<JsonValue>& policies = result.json["checkpoints"].list();
  if (policies.empty()) return {};
  const UnitScale scale = checkpoint_scale(policies);
  PanelColumn policy = text_column("policy"), mean = number_column("written", std::string(scale.unit));
  for (const JsonValue& row : policies) {
    texts(policy).push_back(row["policy"].text());
    numbers(mean).push_back(row["mean_bytes"].number_or_unknown() * scale.factor);
  }
  return {Panel{.id = "embeddings-checkpoints",
                .title = "Bytes of a checkpoint",
                .sentence = "The mean over a day, of all rows or of those that changed.",
                .chart = Chart::kBars,
                .columns = {policy, mean}}};
}

std::vector<Panel> embeddings_recoveries(const ResultInput& result) {
  PanelColumn kind = text_column("recovery"),
              overhead = number_column("share of the time", "%");
  for (const JsonValue& row : result.json["recoveries"].list()) {
    texts(kind).push_back(row["kind"].text());
    numbers(overhead).push_back(100.0 * row["overhead"].number_or_unknown());
  }
  if (kind.size() == 0) return {};
  return {Panel{.id = "embeddings-recoveries",
                .title = "What failures cost",
                .sentence = "Full recovery loads all tables and repeats the lost steps; partial recovery loads those "
                            "of one server and goes on.",
                .chart = Chart::kBars,
                .columns = {kind, overhead}}};
}

std::vector<Panel> embeddings_table(const ResultInput& result) {
  const std::vector<JsonValue>& policies = result.json["checkpoints"].list();
  if (policies.empty()) return {};
  const UnitScale scale = checkpoint_scale(policies);
  const std::string unit(scale.unit);
  PanelColumn policy = text_column("policy"), second = number_column("the second one", unit),
              mean = number_column("mean", unit), kept = number_column("kept to restore from", unit),
              less = number_column("less written", "x"), less_kept = number_column("less kept", "x");
  for (const JsonValue& row : policies) {
    texts(policy).push_back(row["policy"].text());
    numbers(second).push_back(row["second_bytes"].number_or_unknown() * scale.factor);
    numbers(mean).push_back(row["mean_bytes"].number_or_unknown() * scale.factor);
    numbers(kept).push_back(row["kept_bytes"].number_or_unknown() * scale.factor);
    numbers(less).push_back(row["less_written"].number_or_unknown());
    numbers(less_kept).push_back(row["less_kept"].number_or_unknown());
  }
  return {Panel{.id = "embeddings-policies",
                .title = "Checkpoints by policy",
                .sentence = "Of a day with checkpoints at the scenario's interval, against all rows in fp32.",
                .columns = {policy, second, mean, kept, less, less_kept},
                .wide = true}};
}

std::vector<Panel> embeddings_intervals(const ResultInput& result) {
  const std::vector<JsonValue>& kinds = result.json["recoveries"].list();
  if (kinds.empty()) return {};
  double longest = 0.0;
  for (const JsonValue& row : kinds) longest = std::max(longest, row["interval_ps"].number().value_or(0.0) * 1e-12);
  const UnitScale scale = long_time_scale(longest);
  PanelColumn kind = text_column("recovery"), interval = number_column("interval", std::string(scale.unit)),
              overhead = number_column("overhead", "% of the time"), lost = number_column("lost samples", "%");
  for (const JsonValue& row : kinds) {
    texts(kind).push_back(row["kind"].text());
    numbers(interval).push_back(row["interval_ps"].number_or_unknown() * 1e-12 * scale.factor);
    numbers(overhead).push_back(100.0 * row["overhead"].number_or_unknown());
    numbers(lost).push_back(100.0 * row["pls"].number_or_unknown());
  }
  return {Panel{.id = "embeddings-intervals",
                .title = "Intervals of checkpoints",
                .sentence = "The best interval of full recovery, and that at which partial recovery loses as many "
                            "samples as the scenario allows.",
                .columns = {kind, interval, overhead, lost},
                .wide = true}};
}

}  // namespace ringwright::planning
