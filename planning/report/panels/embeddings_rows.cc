// Rows of embedding tables: which lookups a cache meets, and what a step fetches of the rest.
#include <algorithm>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

UnitScale fetched_scale(const std::vector<JsonValue>& rows) {
  double most = 0.0;
  for (const JsonValue& row : rows) most = std::max(most, row["fetched_bytes"].number().value_or(0.0));
  return byte_scale(most);
}

}  // namespace

std::vector<Panel> embeddings_caches(const ResultInput& result) {
  const std::vector<JsonValue>& rows = result.json["caches"].list();
  if (rows.empty()) return {};
  const UnitScale scale = fetched_scale(rows);
  PanelColumn series = text_column("cache"), cached = number_column("rows in GPU memory", "%"),
              hits = number_column("lookups that they meet", "%"),
              fetched = number_column("fetched in a step", std::string(scale.unit));
  for (const JsonValue& row : rows) {
    texts(series).emplace_back("most popular rows");
    numbers(cached).push_back(100.0 * row["rows"].number_or_unknown());
    numbers(hits).push_back(100.0 * row["hits"].number_or_unknown());
    numbers(fetched).push_back(row["fetched_bytes"].number_or_unknown() * scale.factor);
  }
  return {Panel{.id = "embeddings-caches",
                .title = "What a cache of the most popular rows meets",
                .sentence = "Lookups met by so many of each table's rows; the rest is fetched from host memory and "
                            "written back.",
                .chart = Chart::kLines,
                .columns = {series, cached, hits, fetched},
                .x_scale = AxisScale::kLogarithmic}};
}

std::vector<Panel> embeddings_lookaheads(const ResultInput& result) {
  const std::vector<JsonValue>& rows = result.json["lookaheads"].list();
  if (rows.empty()) return {};
  const UnitScale scale = fetched_scale(rows);
  PanelColumn series = text_column("cache"), batches = number_column("lookahead", "batches"),
              fetched = number_column("fetched in a step", std::string(scale.unit)),
              held = number_column("rows in the window", "% of all");
  for (const JsonValue& row : rows) {
    texts(series).emplace_back("rows of the next batches");
    numbers(batches).push_back(row["batches"].number_or_unknown());
    numbers(fetched).push_back(row["fetched_bytes"].number_or_unknown() * scale.factor);
    numbers(held).push_back(100.0 * row["held"].number_or_unknown());
  }
  return {Panel{.id = "embeddings-lookaheads",
                .title = "What a lookahead fetches",
                .sentence = "GPUs hold the rows of the next batches, and a step fetches those that enter the window.",
                .chart = Chart::kLines,
                .columns = {series, batches, fetched, held},
                .x_scale = AxisScale::kLogarithmic}};
}

}  // namespace ringwright::planning
