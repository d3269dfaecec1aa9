// One measured training run: its source's statements about model, machine, layout and batch, and the measurements.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "validation/tables/csv_table.h"

namespace ringwright::validation {

// An empty value means that the source does not state it; it never means zero or off.
struct TrainingRow {
  Place place;
  std::map<std::string, int, std::less<>> cells;  // where each cell that is not empty begins
  std::string id, where, model, gpu, nic, sharding, recompute, precision, overlap, framework, schedule, notes, trust,
      split, recipe;
  std::optional<std::int64_t> layers, hidden, heads, kv_heads, head_size, ffn, vocabulary, sequence;
  std::optional<std::int64_t> experts, top_k, expert_ffn, shared_experts;
  std::optional<std::int64_t> gpus, gpus_per_node, tp, pp, virtual_stages, dp, cp, ep, etp, sequence_parallel;
  std::optional<std::int64_t> micro_batch, global_batch, accumulation;
  std::optional<double> billions;  // of parameters
  std::optional<double> step_seconds, tokens_per_gpu, tflops_per_gpu, memory_gib;
  std::string shipped_model;         // of `ringwright list models`, that its model names; empty: none
  bool tuned_parts = false;          // virtual stages: words, such as "not stated"
  std::vector<std::string> remarks;  // words where a number is expected: "mbs: tuned, not printed"

  [[nodiscard]] bool scored() const { return split != "exclude"; }
  // The prefix of the id before its number: "bloom_176b_tuning".
  [[nodiscard]] std::string source() const;
  // Of the cell in this column; of the row where it is empty.
  [[nodiscard]] Place place_of(std::string_view column) const;
};

struct TrainingTable {
  std::string file;
  std::vector<CsvHeaderLine> header;
  std::vector<TrainingRow> rows;
  std::vector<std::string> unused_columns;
  Diagnostics warnings;  // columns that no reader uses
};

// Needs the columns id, model, gpu and n_gpus; other columns of the schema may be missing, columns outside the schema
// are listed as unused. A cell in a column of numbers must hold a number (a remark in brackets may follow) or words
// that explain why there is none.
[[nodiscard]] Result<TrainingTable> read_training_rows(const CsvTable& table);

// The columns with their meaning, one a line.
[[nodiscard]] std::string training_columns_text();

}  // namespace ringwright::validation
