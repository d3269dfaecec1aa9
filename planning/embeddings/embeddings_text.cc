// Results about embedding tables, as text and as JSON.
#include <cmath>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"
#include "planning/embeddings/embeddings.h"

namespace ringwright::planning {
namespace {

std::string percent_of(double share) { return fmt::format("{:.2f} %", share * 100.0); }
std::string size_of(double bytes) { return to_string(Bytes(static_cast<std::int64_t>(std::llround(bytes)))); }

std::string embedding_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<Align> columns(rows.front().size(), Align::kRight);
  columns.front() = Align::kLeft;
  TextTable table(columns);
  for (const std::vector<std::string>& row : rows) table.add_row(row);
  std::string text = "\n";
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  return text;
}

std::string caches_text(const EmbeddingsResult& result) {
  std::vector<std::vector<std::string>> rows{{"most popular rows in GPU memory", "of lookups", "fetched in a step"}};
  for (const CacheRow& row : result.caches) {
    rows.push_back({percent_of(row.rows), percent_of(row.hits), size_of(row.fetched)});
  }
  return embedding_table(rows);
}

std::string lookaheads_text(const EmbeddingsResult& result) {
  std::vector<std::vector<std::string>> rows{{"batches ahead", "rows held", "fetched in a step"}};
  for (const LookaheadRow& row : result.lookaheads) {
    rows.push_back({std::to_string(row.batches), percent_of(row.held), size_of(row.fetched)});
  }
  return embedding_table(rows);
}

std::string checkpoints_text(const EmbeddingsResult& result) {
  std::vector<std::vector<std::string>> rows{
      {"checkpoints of a day", "second", "mean", "kept at most", "less written", "less kept"}};
  for (const CheckpointRow& row : result.checkpoints) {
    rows.push_back({row.policy, size_of(row.first), size_of(row.mean), size_of(row.largest_kept),
                    fmt::format("{:.2f} x", row.less_written), fmt::format("{:.2f} x", row.less_kept)});
  }
  return embedding_table(rows);
}

std::string interval_text(Duration interval) {
  const double hours = to_seconds(interval) / 3600.0;
  return hours < 2.0 ? to_string(interval) : fmt::format("{:.2f} h", hours);
}

std::string recoveries_text(const EmbeddingsResult& result) {
  std::vector<std::vector<std::string>> rows{{"recovery", "checkpoint every", "overhead", "lost samples"}};
  for (const RecoveryRow& row : result.recoveries) {
    rows.push_back({row.kind, interval_text(row.interval), percent_of(row.overhead), percent_of(row.pls)});
  }
  rows.push_back({"erasure code", "-", percent_of(result.parity_overhead), percent_of(0.0)});
  return embedding_table(rows);
}

}  // namespace

std::string render_embeddings_text(const EmbeddingsResult& result) {
  return fmt::format("{}: tables of {}, a step of {}, {} of its lookups are of distinct rows\n", result.scenario,
                     size_of(result.table_bytes), to_string(result.step), percent_of(result.unique_rows)) +
         caches_text(result) + lookaheads_text(result) + checkpoints_text(result) + recoveries_text(result) +
         fmt::format("  erasure code: {} more memory, {} more sent in a step, a lost server is rebuilt in {}\n",
                     percent_of(result.memory_overhead), size_of(result.parity_bytes), to_string(result.rebuild));
}

std::string render_embeddings_json(const EmbeddingsResult& result) {
  std::vector<std::string> caches, lookaheads, checkpoints, recoveries;
  for (const CacheRow& row : result.caches) {
    caches.push_back(fmt::format("{{\"rows\": {}, \"hits\": {}, \"fetched_bytes\": {}}}", row.rows, row.hits,
                                 row.fetched));
  }
  for (const LookaheadRow& row : result.lookaheads) {
    lookaheads.push_back(fmt::format("{{\"batches\": {}, \"held\": {}, \"fetched_bytes\": {}}}", row.batches, row.held,
                                     row.fetched));
  }
  for (const CheckpointRow& row : result.checkpoints) {
    checkpoints.push_back(fmt::format("{{\"policy\": {}, \"second_bytes\": {}, \"mean_bytes\": {}, \"kept_bytes\": {}, "
                                      "\"less_written\": {}, \"less_kept\": {}}}",
                                      json_text(row.policy), row.first, row.mean, row.largest_kept, row.less_written,
                                      row.less_kept));
  }
  for (const RecoveryRow& row : result.recoveries) {
    recoveries.push_back(fmt::format("{{\"kind\": {}, \"interval_ps\": {}, \"overhead\": {}, \"pls\": {}}}",
                                     json_text(row.kind), row.interval.count(), row.overhead, row.pls));
  }
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.embeddings/1\",\n  \"tool\": {{\"name\": \"ringwright\", \"version\": {}}},\n"
      "  \"scenario\": {}, \"step_ps\": {}, \"table_bytes\": {}, \"unique_rows\": {},\n  \"caches\": [{}],\n"
      "  \"lookaheads\": [{}],\n  \"checkpoints\": [{}],\n  \"recoveries\": [{}],\n  \"erasure_code\": {{"
      "\"memory_overhead\": {}, \"parity_bytes\": {}, \"overhead\": {}, \"rebuild_ps\": {}}}\n}}\n",
      json_text(RINGWRIGHT_VERSION), json_text(result.scenario), result.step.count(), result.table_bytes,
      result.unique_rows, join(caches, ", "), join(lookaheads, ", "), join(checkpoints, ", "), join(recoveries, ", "),
      result.memory_overhead, result.parity_bytes, result.parity_overhead, result.rebuild.count());
}

}  // namespace ringwright::planning
