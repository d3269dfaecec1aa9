#include "validation/training_row.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>
#include <variant>

#include <fmt/format.h>

namespace ringwright::validation {
namespace {

using Field = std::variant<std::string TrainingRow::*, std::optional<std::int64_t> TrainingRow::*,
                           std::optional<double> TrainingRow::*>;

struct Column {
  std::string_view name;
  Field field;
};

// The shared schema of the tables of measured runs. Columns for people (params_b, the derived mfu_pct and hfu_pct,
// the whole training's duration) are not among them.
const std::array kColumns = {
    Column{"id", &TrainingRow::id},
    Column{"where", &TrainingRow::where},
    Column{"model", &TrainingRow::model},
    Column{"params_b", &TrainingRow::billions_of_parameters},
    Column{"layers", &TrainingRow::layers},
    Column{"hidden", &TrainingRow::hidden},
    Column{"heads", &TrainingRow::heads},
    Column{"kv_heads", &TrainingRow::kv_heads},
    Column{"head_dim", &TrainingRow::head_size},
    Column{"ffn", &TrainingRow::ffn},
    Column{"vocab", &TrainingRow::vocabulary},
    Column{"seq", &TrainingRow::sequence},
    Column{"experts", &TrainingRow::experts},
    Column{"topk", &TrainingRow::top_k},
    Column{"moe_ffn", &TrainingRow::expert_ffn},
    Column{"shared_experts", &TrainingRow::shared_experts},
    Column{"gpu", &TrainingRow::gpu},
    Column{"n_gpus", &TrainingRow::gpus},
    Column{"gpus_per_node", &TrainingRow::gpus_per_node},
    Column{"scaleup", &TrainingRow::scaleup},
    Column{"nic", &TrainingRow::nic},
    Column{"tp", &TrainingRow::tp},
    Column{"pp", &TrainingRow::pp},
    Column{"vpp", &TrainingRow::virtual_stages},
    Column{"dp", &TrainingRow::dp},
    Column{"cp", &TrainingRow::cp},
    Column{"ep", &TrainingRow::ep},
    Column{"etp", &TrainingRow::etp},
    Column{"sp", &TrainingRow::sequence_parallel},
    Column{"dp_sharding", &TrainingRow::sharding},
    Column{"mbs", &TrainingRow::micro_batch},
    Column{"gbs", &TrainingRow::global_batch},
    Column{"grad_acc", &TrainingRow::accumulation},
    Column{"recompute", &TrainingRow::recompute},
    Column{"precision", &TrainingRow::precision},
    Column{"overlap", &TrainingRow::overlap},
    Column{"framework", &TrainingRow::framework},
    Column{"schedule", &TrainingRow::schedule},
    Column{"step_time_s", &TrainingRow::step_seconds},
    Column{"tok_s_gpu", &TrainingRow::tokens_per_gpu},
    Column{"tflops_gpu", &TrainingRow::tflops_per_gpu},
    Column{"mem_gib", &TrainingRow::memory_gib},
    Column{"reducescatter_gb", &TrainingRow::reduce_scatter_gb},
    Column{"notes", &TrainingRow::notes},
    Column{"trust", &TrainingRow::trust},
    Column{"split", &TrainingRow::split},
};
constexpr std::array<std::string_view, 4> kNeeded = {"id", "model", "gpu", "n_gpus"};

enum class Number { kValue, kWords, kBroken };

constexpr double kLargest = 1e12;  // of parameters, tokens, sizes: more than any machine or model has

// "12", "1 (assumed)", "8 per TP group (derived)"; words without a number in front are a remark.
template <class T>
Number parse_number(std::string_view text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (text == "-" || text == "--") return Number::kWords;
  const bool starts_like_one = std::isdigit(static_cast<unsigned char>(text.front())) != 0 || text.front() == '-' ||
                               text.front() == '+' || text.front() == '.';
  if (!starts_like_one) return Number::kWords;
  // Spreadsheets write whole numbers with a fraction: "8.0".
  const bool whole = std::is_integral_v<T> &&
                     std::string_view(rest, end).find_first_not_of('0', 1) == std::string_view::npos && rest != end &&
                     *rest == '.';
  if (error != std::errc() || (rest != end && *rest != ' ' && !whole) || value < T{} ||
      value > static_cast<T>(kLargest)) {
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
    if (const auto* text = std::get_if<std::string TrainingRow::*>(&column.field)) {
      result_.*(*text) = cell.text;
    } else if (const auto* whole = std::get_if<std::optional<std::int64_t> TrainingRow::*>(&column.field)) {
      number(column.name, cell, result_.*(*whole));
    } else if (const auto* real = std::get_if<std::optional<double> TrainingRow::*>(&column.field)) {
      number(column.name, cell, result_.*(*real));
    }
  }

  TrainingRow finish() {
    if (result_.id.empty()) refuse("id", 1, "a row without an id cannot be named in the results");
    return std::move(result_);
  }

 private:
  template <class T>
  void number(std::string_view column, const CsvCell& cell, std::optional<T>& field) {
    T value{};
    switch (parse_number(cell.text, value)) {
      case Number::kValue: field = value; return;
      case Number::kWords:
        if (column == "vpp" && cell.text.find("one layer per chunk") != std::string::npos) {
          result_.one_layer_a_part = true;
        } else {
          if (column == "vpp") result_.tuned_parts = true;
          result_.remarks.push_back(fmt::format("{}: {}", column, cell.text));
        }
        return;
      case Number::kBroken:
        refuse(column, cell.column,
               fmt::format("column '{}' holds '{}', which is no {} from 0 to 1e12", column, cell.text,
                           std::is_integral_v<T> ? "whole number" : "number"));
    }
  }

  void refuse(std::string_view column, int at, std::string message) {
    problems_.add({.code = "E161",
                   .place = {.file = table_.file, .line = row_.line, .column = at},
                   .message = std::move(message),
                   .excerpt = row_.raw.substr(0, 160),
                   .hint = fmt::format("leave '{}' empty where the source does not say", column)});
  }

  const CsvTable& table_;
  const CsvRow& row_;
  Diagnostics& problems_;
  TrainingRow result_;
};

Diagnostics check_columns(const CsvTable& table) {
  Diagnostics problems;
  for (const std::string_view name : kNeeded) {
    if (table.find_column(name)) continue;
    problems.add({.code = "E161",
                  .place = {.file = table.file},
                  .message = fmt::format("this is no table of training runs: there is no column '{}'", name)});
  }
  return problems;
}

}  // namespace

std::string TrainingRow::source() const {
  const std::size_t dash = id.rfind('-');
  return dash == std::string::npos ? id : id.substr(0, dash);
}

Result<TrainingTable> read_training_rows(const CsvTable& table) {
  Diagnostics problems = check_columns(table);
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  TrainingTable result{.file = table.file, .header = table.header, .rows = {}, .unused_columns = {}};
  for (const std::string& name : table.columns) {
    if (std::ranges::find(kColumns, name, &Column::name) == kColumns.end()) result.unused_columns.push_back(name);
  }
  for (const CsvRow& row : table.rows) {
    RowReader reader(table, row, problems);
    for (const Column& column : kColumns) {
      if (const auto at = table.find_column(column.name)) reader.read(column, row.cells[*at]);
    }
    result.rows.push_back(reader.finish());
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return result;
}

}  // namespace ringwright::validation
