#include "validation/left_out/left_out_steps.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "configs/scenario/nccl_host.h"
#include "traces/input/log_text.h"
#include "validation/tables/csv_table.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation {
namespace {

constexpr std::array<std::string_view, 7> kStepColumns = {"generation", "strategy", "precision", "rows",
                                                          "sources",    "error",    "bias"};

std::string strategy_of(const configs::Scenario& scenario) {
  const workload::ParallelOptions& parallel = scenario.job.parallel;
  if (scenario.job.model.experts) return "experts";
  if (parallel.cp > 1) return "context";
  if (parallel.sharding.parameters) return "sharded";
  return parallel.tp > 1 || parallel.pp > 1 ? "tensor and pipeline" : "data";
}

std::string precision_of_gemms(const workload::TrainingOptions& training) {
  if (training.gemm_type() == DataType::kFp4) return "fp4";
  return training.gemm_type() == DataType::kFp8 ? "fp8" : "16 bit";
}

Result<std::vector<LeftOutSteps>> steps_of(const CsvTable& table) {
  const auto at = columns_of(table, kStepColumns, "E462");
  if (!at) return tl::unexpected(at.error());
  Diagnostics problems;
  std::vector<LeftOutSteps> errors;
  for (const CsvRow& row : table.rows) {
    const auto text = [&](std::size_t column) -> const std::string& { return row.cells[(*at)[column]].text; };
    const auto rows = traces::parse_number<int>(text(3));
    const auto sources = traces::parse_number<int>(text(4));
    const auto error = traces::parse_number<double>(text(5));
    const auto bias = traces::parse_number<double>(text(6));
    if (!rows || !sources || !error || !bias) {
      problems.add({.code = "E462",
                    .place = {.file = table.file, .line = row.line, .column = 1},
                    .message = fmt::format("'{}' states no number of rows and sources, error and bias", row.raw)});
      continue;
    }
    errors.push_back({.kind = {.generation = text(0), .strategy = text(1), .precision = text(2)},
                      .rows = *rows,
                      .sources = *sources,
                      .error = *error,
                      .bias = *bias});
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return errors;
}

std::string name_of(const StepKind& kind) {
  std::string name;
  for (const std::string& part : {kind.generation, kind.strategy, kind.precision}) {
    if (part != "any") name += (name.empty() ? "" : ", ") + part;
  }
  return name.empty() ? "all steps" : name;
}

}  // namespace

StepKind step_kind_of(const configs::Scenario& scenario) {
  const auto of = configs::cost_class_of(scenario.cluster, scenario.nccl);
  // Runs on GPUs of CDNA 3 and 4 are counted together; the costs of collectives are those of CDNA 3.
  const bool amd = of.kernels.starts_with("cdna");
  return {.generation = amd ? "cdna" : of.kernels,
          .strategy = strategy_of(scenario),
          .precision = precision_of_gemms(scenario.job.training)};
}

Result<std::vector<LeftOutSteps>> read_left_out_steps() {
  const auto table = read_csv(shipped_folder("left_out_training.csv"));
  if (!table) return tl::unexpected(table.error());
  return steps_of(*table);
}

Result<std::vector<LeftOutSteps>> parse_left_out_steps(const std::string& name, std::string_view text) {
  const auto table = parse_csv(name, text);
  if (!table) return tl::unexpected(table.error());
  return steps_of(*table);
}

std::string left_out_steps_text(const std::vector<LeftOutSteps>& errors, const StepKind& kind) {
  const std::array<StepKind, 4> wanted = {kind, StepKind{.generation = kind.generation, .precision = kind.precision},
                                          StepKind{.generation = kind.generation}, StepKind{}};
  const LeftOutSteps* chosen = nullptr;
  const LeftOutSteps* alone = nullptr;  // the narrowest kind, of one source
  for (const StepKind& one : wanted) {
    const auto found = std::ranges::find(errors, one, &LeftOutSteps::kind);
    if (found == errors.end()) continue;
    if (found->sources >= 2) {
      chosen = &*found;
      break;
    }
    if (alone == nullptr) alone = &*found;
  }
  // One source says little, but an error bar that leaves it out would be too narrow.
  if (alone != nullptr && (chosen == nullptr || alone->error > chosen->error)) chosen = alone;
  if (chosen == nullptr) return {};
  return fmt::format("{:.0f} % (mean {:+.0f}) for {}; {} runs of {} source{}, each held out of the fit",
                     100.0 * chosen->error, 100.0 * chosen->bias, name_of(chosen->kind), chosen->rows, chosen->sources,
                     chosen->sources == 1 ? "" : "s");
}

}  // namespace ringwright::validation
