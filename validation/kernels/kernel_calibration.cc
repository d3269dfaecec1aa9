// Calibration of a GPU's kernel profile: reads tables of one GPU, fits its constants, and reports the errors on the
// shapes that were held out.
#include <fmt/format.h>

#include "configs/scenario/gpu_preset.h"
#include "core/base/json_text.h"
#include "validation/builtin.h"
#include "validation/fit/error_statistics.h"
#include "validation/kernels/gpu_tables.h"
#include "validation/kernels/kernel_fit.h"
#include "validation/kernels/kernel_profile_text.h"

namespace ringwright::validation {
namespace {

struct Tables {
  std::string gpu;
  std::vector<std::string> sources;
  std::vector<MeasuredKernel> rows;
};

Result<Tables> read_tables(const std::vector<std::string>& files) {
  Tables tables;
  Diagnostics problems;
  for (const std::string& file : files) {
    const auto table = read_kernel_table(file);
    if (!table) {
      for (const Diagnostic& diagnostic : table.error().all()) problems.add(diagnostic);
      continue;
    }
    if (!tables.gpu.empty() && tables.gpu != table->gpu) {
      problems.add({.code = "E163",
                    .place = {.file = file},
                    .message = fmt::format("this table is of {}, the one before of {}", table->gpu, tables.gpu),
                    .hint = "calibrate one GPU at a time"});
    }
    tables.gpu = table->gpu;
    tables.sources.push_back(table->source);
    if (const auto preset = configs::load_gpu(table->gpu)) {
      const Diagnostics missing = check_arithmetic(*table, preset->gpu);
      for (const Diagnostic& diagnostic : missing.all()) problems.add(diagnostic);
      const Diagnostics units = check_units(*table, preset->gpu);
      for (const Diagnostic& diagnostic : units.all()) problems.add(diagnostic);
    }
    tables.rows.insert(tables.rows.end(), table->rows.begin(), table->rows.end());
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return tables;
}

ErrorStatistics errors_of(const Tables& tables, const workload::GpuSpec& gpu, bool held_out) {
  std::vector<PredictedMeasured> pairs;
  for (const MeasuredKernel& row : tables.rows) {
    if (row.held_out == held_out) pairs.push_back({.predicted = predicted_seconds(row, gpu), .measured = row.seconds});
  }
  return error_statistics(pairs);
}

std::string line_of(std::string_view what, const ErrorStatistics& s) {
  return fmt::format("  {:<24}{:>5} rows, median error {:.1f} %, p95 {:.1f} %, largest {:.1f} %\n", what, s.count,
                     100.0 * s.median_abs, 100.0 * s.p95_abs, 100.0 * s.max_abs);
}

std::string fitted_text(const KernelFit& fit) {
  std::string text;
  for (const workload::KernelConstant id : fit.fitted) {
    const auto& spec = workload::kernel_constants()[static_cast<std::size_t>(id)];
    text += fmt::format("  {:<32}{:.6g}{}\n", fmt::format("{}.{}", spec.section, spec.name), fit.profile[id],
                        spec.form == workload::ConstantForm::kTime ? " s" : "");
  }
  for (const FittedRelease& release : fit.fitted_releases) {
    text += fmt::format("  FlashAttention-{}, from {} rows\n", release.release, release.rows);
  }
  return text;
}

}  // namespace

Result<CalibrationOutcome> calibrate_kernels(const CalibrationRequest& request) {
  const auto tables = read_tables(request.files);
  if (!tables) return tl::unexpected(tables.error());
  const auto preset = configs::load_gpu(tables->gpu, {.overrides = request.overrides});
  if (!preset) return tl::unexpected(preset.error());
  const KernelFit fit = fit_kernels(preset->gpu, tables->rows);
  workload::GpuSpec gpu = preset->gpu;
  gpu.kernels = fit.profile;
  const ErrorStatistics fitted = errors_of(*tables, gpu, false);
  const ErrorStatistics unseen = errors_of(*tables, gpu, true);

  CalibrationOutcome outcome;
  outcome.text = fmt::format("{}: {} constants fitted to {} rows\n{}", tables->gpu, fit.fitted.size(), fitted.count,
                             fitted_text(fit)) +
                 line_of("fitted shapes", fitted) + line_of("shapes held out", unseen);
  outcome.json = fmt::format(
      "{{\"gpu\": {}, \"constants\": {}, \"fitted\": {{\"rows\": {}, \"median\": {:.6g}, \"p95\": {:.6g}}}, "
      "\"unseen\": "
      "{{\"rows\": {}, \"median\": {:.6g}, \"p95\": {:.6g}}}}}\n",
      json_text(tables->gpu), fit.fitted.size(), fitted.count, fitted.median_abs, fitted.p95_abs, unseen.count,
      unseen.median_abs, unseen.p95_abs);
  outcome.profile = profile_yaml(fit, {.gpu = tables->gpu, .sources = tables->sources, .log = &preset->document.log()});
  outcome.warnings = cluster_has_no_effect(request.cluster, "kernels");
  return outcome;
}

}  // namespace ringwright::validation
