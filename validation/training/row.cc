#include "validation/training/row.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "validation/training/recipe_columns.h"

namespace ringwright::validation {
namespace {

using Field = std::variant<std::string TrainingRow::*, std::optional<std::int64_t> TrainingRow::*,
                           std::optional<double> TrainingRow::*>;

struct Column {
  std::string_view name;
  Field field;
  std::string_view doc;
  double least = 0.0;  // of a number
};

// The shared schema of the tables of measured runs, without informational columns.
const std::array kTrainingRowColumns = {
    Column{"id", &TrainingRow::id, "name of the row: SOURCE-NUMBER; rows of one SOURCE are scored together"},
    Column{"where", &TrainingRow::where, "position of the row in the source"},
    Column{"model", &TrainingRow::model,
           "the model; a name of `ringwright list models`, or one in validation/training/conventions.yaml"},
    Column{"params_b", &TrainingRow::billions,
           "billions of parameters, which show the structure of a model of unknown name", 1e-6},
    Column{"layers", &TrainingRow::layers, "transformer layers", 1.0},
    Column{"hidden", &TrainingRow::hidden, "hidden size", 1.0},
    Column{"heads", &TrainingRow::heads, "attention heads", 1.0},
    Column{"kv_heads", &TrainingRow::kv_heads, "key/value heads (GQA)", 1.0},
    Column{"head_dim", &TrainingRow::head_size, "size of a head", 1.0},
    Column{"ffn", &TrainingRow::ffn, "width of the feed-forward block", 1.0},
    Column{"vocab", &TrainingRow::vocabulary, "vocabulary", 1.0},
    Column{"seq", &TrainingRow::sequence, "sequence length in tokens", 1.0},
    Column{"experts", &TrainingRow::experts, "experts of an MoE layer; 0: dense"},
    Column{"topk", &TrainingRow::top_k, "experts of a token"},
    Column{"moe_ffn", &TrainingRow::expert_ffn, "width of an expert"},
    Column{"shared_experts", &TrainingRow::shared_experts, "experts that process every token"},
    Column{"gpu", &TrainingRow::gpu, "the GPU, as in A100-SXM4-80GB"},
    Column{"n_gpus", &TrainingRow::gpus, "GPUs of the job", 1.0},
    Column{"gpus_per_node", &TrainingRow::gpus_per_node, "GPUs of a host (8)", 1.0},
    Column{"nic", &TrainingRow::nic, "network cards of a host, as in 8x200Gbps HDR IB"},
    Column{"tp", &TrainingRow::tp, "tensor-parallel size", 1.0},
    Column{"pp", &TrainingRow::pp, "pipeline-parallel size", 1.0},
    Column{"vpp", &TrainingRow::virtual_stages, "model chunks of a pipeline stage", 1.0},
    Column{"dp", &TrainingRow::dp, "data-parallel size", 1.0},
    Column{"cp", &TrainingRow::cp, "context-parallel size", 1.0},
    Column{"ep", &TrainingRow::ep, "expert-parallel size", 1.0},
    Column{"etp", &TrainingRow::etp, "tensor-parallel size of experts", 1.0},
    Column{"sp", &TrainingRow::sequence_parallel, "1: sequence parallelism; 0: none"},
    Column{"dp_sharding", &TrainingRow::sharding, "ZeRO-1, ZeRO-2, ZeRO-3, FSDP, none; in words"},
    Column{"mbs", &TrainingRow::micro_batch, "micro-batch, in sequences", 1.0},
    Column{"gbs", &TrainingRow::global_batch, "global batch, in sequences", 1.0},
    Column{"grad_acc", &TrainingRow::accumulation, "microbatches of a step", 1.0},
    Column{"recompute", &TrainingRow::recompute, "none, selective or full; in words"},
    Column{"precision", &TrainingRow::precision, "bf16, fp16, fp8, ...; in words"},
    Column{"overlap", &TrainingRow::overlap, "overlapped communication, in words"},
    Column{"framework", &TrainingRow::framework,
           "Megatron-LM, NeMo, torchtitan, ...; decides defaults; your tables need it"},
    Column{"schedule", &TrainingRow::schedule, "pipeline schedule, in words"},
    Column{"recipe", &TrainingRow::recipe, "settings of the software, as NAME=VALUE; NAME=VALUE"},
    Column{"step_time_s", &TrainingRow::step_seconds, "measured: seconds of a training step"},
    Column{"tok_s_gpu", &TrainingRow::tokens_per_gpu, "measured: tokens/s of a GPU"},
    Column{"tflops_gpu", &TrainingRow::tflops_per_gpu, "measured: TFLOP/s of a GPU"},
    Column{"mem_gib", &TrainingRow::memory_gib,
           "measured: GiB of the fullest GPU that PyTorch's allocator reserved (max_memory_reserved)"},
    Column{"notes", &TrainingRow::notes, "remarks"},
    Column{"trust", &TrainingRow::trust, "remarks on the source"},
    Column{"split", &TrainingRow::split, "exclude: the row is not compared; open, calibrate: it is"},
};
constexpr std::array<std::string_view, 4> kTrainingRowNeeded = {"id", "model", "gpu", "n_gpus"};

// Informational cells in tables of sources: sizes, names and rates that follow from others, the duration of a whole
// training.
constexpr std::array<std::string_view, 5> kForPeople = {"scaleup", "mfu_pct", "hfu_pct", "hfu_tflops_gpu",
                                                        "time_to_train_min"};

enum class Number { kValue, kWords, kBroken };

constexpr double kMost = 1e12;  // no figure of a training run is larger

// "12", "1 (assumed)", "8 per TP group (derived)"; words without a number in front are a remark.
template <class T>
Number parse_number(std::string_view text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (text == "-" || text == "--") return Number::kWords;
  // The output of programs for a missing number; from_chars accepts it as one.
  for (const std::string_view none : {"nan", "inf", "infinity", "-nan", "+nan", "-inf", "+inf"}) {
    if (std::ranges::equal(text, none, {}, [](unsigned char c) { return std::tolower(c); })) return Number::kBroken;
  }
  const bool starts_like_one = std::isdigit(static_cast<unsigned char>(text.front())) != 0 || text.front() == '-' ||
                               text.front() == '+' || text.front() == '.';
  if (!starts_like_one) return Number::kWords;
  // Spreadsheets write whole numbers with a fraction: "8.0".
  const bool whole = std::is_integral_v<T> &&
                     std::string_view(rest, end).find_first_not_of('0', 1) == std::string_view::npos && rest != end &&
                     *rest == '.';
  if (error != std::errc() || (rest != end && *rest != ' ' && !whole) || value < T{} ||
      !(static_cast<double>(value) <= kMost)) {
    return Number::kBroken;
  }
  return Number::kValue;
}

class RowReader {
 public:
  RowReader(const CsvTable& table, const CsvRow& row, Diagnostics& problems)
      : table_(table), row_(row), problems_(problems) {
    result_.place = {.file = table.file, .line = row.line, .column = 1};
  }

  void read(const Column& column, const CsvCell& cell) {
    if (cell.text.empty()) return;
    result_.cells.emplace(column.name, cell.column);
    if (const auto* text = std::get_if<std::string TrainingRow::*>(&column.field)) {
      result_.*(*text) = cell.text;
    } else if (const auto* whole = std::get_if<std::optional<std::int64_t> TrainingRow::*>(&column.field)) {
      number(column, cell, result_.*(*whole));
    } else if (const auto* real = std::get_if<std::optional<double> TrainingRow::*>(&column.field)) {
      number(column, cell, result_.*(*real));
    }
  }

  TrainingRow finish() {
    if (result_.recipe.empty()) result_.recipe = recipe_of(table_, row_);
    if (result_.recompute.empty()) result_.recompute = recompute_of(result_.recipe);
    if (result_.id.empty()) refuse("id", 1, "a row without an id cannot be named in the results");
    return std::move(result_);
  }

 private:
  template <class T>
  void number(const Column& column, const CsvCell& cell, std::optional<T>& field) {
    T value{};
    Number kind = parse_number(cell.text, value);
    if (kind == Number::kValue && static_cast<double>(value) < column.least) kind = Number::kBroken;
    switch (kind) {
      case Number::kValue: field = value; return;
      case Number::kWords:
        if (column.name == "vpp") result_.tuned_parts = true;
        result_.remarks.push_back(fmt::format("{}: {}", column.name, cell.text));
        return;
      case Number::kBroken:
        refuse(column.name, cell.column,
               fmt::format("column '{}' holds '{}', which is no {} from {} to {:.0e}", column.name, cell.text,
                           std::is_integral_v<T> ? "whole number" : "number", column.least, kMost));
    }
  }

  void refuse(std::string_view column, int at, std::string message) {
    problems_.add({.code = "E161",
                   .place = {.file = table_.file, .line = row_.line, .column = at},
                   .message = std::move(message),
                   .excerpt = row_.raw.substr(0, 160),
                   .hint = fmt::format("leave '{}' empty where the source does not state it", column)});
  }

  const CsvTable& table_;
  const CsvRow& row_;
  Diagnostics& problems_;
  TrainingRow result_;
};

Diagnostics check_columns(const CsvTable& table) {
  Diagnostics problems;
  for (const std::string_view name : kTrainingRowNeeded) {
    if (table.find_column(name)) continue;
    problems.add({.code = "E161",
                  .place = {.file = table.file},
                  .message = fmt::format("this is no table of training runs: there is no column '{}'", name)});
  }
  return problems;
}

Diagnostic no_effect(const CsvTable& table, std::size_t column, std::string message, std::string hint) {
  return {.severity = Severity::kWarning,
          .code = "W164",
          .place = table.place_of_column(column),
          .message = std::move(message),
          .excerpt = table.names.raw.substr(0, 160),
          .hint = std::move(hint)};
}

// `unknown`: numbers of columns. Those that resemble a known one are named singly, all others together.
void warn_of(const CsvTable& table, std::span<const std::size_t> unknown, Diagnostics& warnings) {
  std::vector<std::string> known;
  for (const Column& column : kTrainingRowColumns) known.emplace_back(column.name);
  std::vector<std::string> others;
  std::size_t first = 0;
  for (const std::size_t column : unknown) {
    const std::string quoted = fmt::format("'{}'", table.columns[column]);
    if (const std::string near = nearest_name(table.columns[column], known); !near.empty()) {
      warnings.add(no_effect(table, column, fmt::format("column {} is not known and has no effect", quoted),
                             fmt::format("did you mean '{}'?", near)));
      continue;
    }
    if (others.empty()) first = column;
    others.push_back(quoted);
  }
  if (others.empty()) return;
  const bool one = others.size() == 1;
  warnings.add(no_effect(table, first,
                         fmt::format("column{} {} {} not known and {} no effect", one ? "" : "s",
                                     fmt::join(others, ", "), one ? "is" : "are", one ? "has" : "have"),
                         "the columns: docs/training-tables.md"));
}

}  // namespace

std::string training_columns_text() {
  std::string text = "Columns of a table of training runs (docs/training-tables.md):\n";
  for (const Column& column : kTrainingRowColumns) {
    const bool needed = std::ranges::find(kTrainingRowNeeded, column.name) != kTrainingRowNeeded.end();
    text += fmt::format("  {:<16} {}{}\n", column.name, column.doc, needed ? " (required)" : "");
  }
  return text;
}

Place TrainingRow::place_of(std::string_view column) const {
  Place at = place;
  const auto cell = cells.find(column);
  if (cell != cells.end()) at.column = cell->second;
  return at;
}

std::string TrainingRow::source() const {
  const std::size_t dash = id.rfind('-');
  return dash == std::string::npos ? id : id.substr(0, dash);
}

Result<TrainingTable> read_training_rows(const CsvTable& table) {
  Diagnostics problems = check_columns(table);
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  TrainingTable result{.file = table.file, .header = table.header, .rows = {}, .unused_columns = {}, .warnings = {}};
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& name = table.columns[i];
    if (std::ranges::find(kTrainingRowColumns, name, &Column::name) != kTrainingRowColumns.end()) continue;
    if (is_recipe_column(name)) continue;
    result.unused_columns.push_back(name);
    if (std::ranges::find(kForPeople, name) == kForPeople.end()) unknown.push_back(i);
  }
  warn_of(table, unknown, result.warnings);
  for (const CsvRow& row : table.rows) {
    RowReader reader(table, row, problems);
    for (const Column& column : kTrainingRowColumns) {
      if (const auto at = table.find_column(column.name)) reader.read(column, row.cells[*at]);
    }
    result.rows.push_back(reader.finish());
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return result;
}

}  // namespace ringwright::validation
