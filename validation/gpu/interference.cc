// Validation and calibration of the interference rung: kernels concurrent with copy blocks, measured by
// `validation/gpu`.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "configs/scenario/gpu_preset.h"
#include "core/base/json_text.h"
#include "validation/builtin.h"
#include "validation/fit/error_statistics.h"
#include "validation/fit/kernel_plot.h"
#include "validation/gpu/interference_model.h"
#include "validation/gpu/interference_table.h"
#include "validation/kernels/gpu_tables.h"

namespace ringwright::validation {
namespace {

constexpr double kInterferenceThreshold = 0.10;
constexpr std::size_t kWorst = 5;

struct Measured {
  InterferenceTable table;
  workload::GpuSpec gpu;
};

// The table, and the GPU that it names.
Result<Measured> read_measured(const std::string& file, const std::vector<std::string>& overrides) {
  auto table = read_interference_table(file);
  if (!table) return tl::unexpected(table.error());
  const auto preset = configs::load_gpu(table->gpu, {.overrides = overrides});
  if (!preset) return tl::unexpected(preset.error());
  return Measured{.table = std::move(*table), .gpu = preset->gpu};
}

struct Scores {
  ErrorStatistics slowdown;  // of the kernel
  ErrorStatistics blocks;     // of the copy blocks, during the kernel
};

enum class Rows { kFitted, kHeldOut };

Scores score(const Measured& measured, const InterferenceConstants& constants, Rows rows) {
  std::vector<PredictedMeasured> kernels, copy_blocks;
  for (const MeasuredPair& pair : measured.table.rows) {
    if (pair.held_out != (rows == Rows::kHeldOut)) continue;
    const PairPrediction prediction = predict(pair, measured.gpu, constants);
    kernels.push_back({.predicted = prediction.together_seconds, .measured = pair.together_seconds});
    copy_blocks.push_back({.predicted = prediction.blocks_together.count(), .measured = pair.blocks_together.count()});
  }
  return {.slowdown = error_statistics(kernels), .blocks = error_statistics(copy_blocks)};
}

std::string constants_text(const InterferenceFit& fit) {
  std::string text;
  const std::vector<double> values = values_of(fit.constants);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string value =
        values[i] > 1e6 ? fmt::format("{:.3g} GB/s", values[i] * 1e-9) : fmt::format("{:.3g}", values[i]);
    text += fmt::format("  {:<20}{}{}\n", interference_constants()[i].name, value,
                        fit.matters[i] ? "" : "  (not determined by the rows)");
  }
  return text;
}

std::string score_line(std::string_view what, const Scores& scores) {
  if (scores.slowdown.count == 0) return fmt::format("  {:<18}    0 pairs\n", what);
  return fmt::format("  {:<18}{:>5} pairs; kernel: mean error {}, largest {}; copy blocks: mean error {}, largest {}\n",
                     what, scores.slowdown.count, percent_text(scores.slowdown.mean_abs),
                     percent_text(scores.slowdown.max_abs), percent_text(scores.blocks.mean_abs),
                     percent_text(scores.blocks.max_abs));
}

struct Worst {
  const MeasuredPair* pair = nullptr;
  double error = 0.0;
};

std::string worst_text(const Measured& measured, const InterferenceConstants& constants) {
  std::vector<Worst> all;
  for (const MeasuredPair& pair : measured.table.rows) {
    all.push_back({&pair, relative_error({.predicted = predict(pair, measured.gpu, constants).together_seconds,
                                          .measured = pair.together_seconds})});
  }
  std::ranges::stable_sort(all, std::greater<>(), [](const Worst& w) { return std::abs(w.error); });
  std::string text = "  worst:\n";
  for (std::size_t i = 0; i < std::min(kWorst, all.size()); ++i) {
    text += fmt::format("    {:+6.1f} %  {}, measured {:.2f} x\n", 100.0 * all[i].error, pair_label(*all[i].pair),
                        all[i].pair->together_seconds / all[i].pair->alone_seconds);
  }
  return text;
}

NamedText plot_of(const Measured& measured, const InterferenceConstants& constants) {
  PlotSeries fitted{.name = "fitted", .colour = "#1f77b4", .points = {}};
  PlotSeries unseen{.name = "new pairs", .colour = "#d62728", .points = {}};
  for (const MeasuredPair& pair : measured.table.rows) {
    (pair.held_out ? unseen : fitted)
        .points.push_back({.predicted = predict(pair, measured.gpu, constants).together_seconds,
                           .measured = pair.together_seconds});
  }
  const std::string name = "interference-" + measured.table.gpu;
  return {.name = name + ".svg", .text = scatter_svg(name, std::array{fitted, unseen})};
}

std::string interference_json(const ErrorStatistics& s) {
  return fmt::format("{{\"count\": {}, \"mean\": {:.6g}, \"max\": {:.6g}}}", s.count, s.mean_abs, s.max_abs);
}

std::string interference_json(const Measured& measured, const InterferenceFit& fit, const Scores& fitted,
                              const Scores& unseen) {
  std::string constants;
  const std::vector<double> values = values_of(fit.constants);
  for (std::size_t i = 0; i < values.size(); ++i) {
    constants += fmt::format("{}\"{}\": {:.6g}", i == 0 ? "" : ", ", interference_constants()[i].name, values[i]);
  }
  return fmt::format(
      "{{\"gpu\": {}, \"constants\": {{{}}}, \"fitted\": {{\"kernel\": {}, \"copy_blocks\": {}}}, \"unseen\": "
      "{{\"kernel\": {}, \"copy_blocks\": {}}}}}",
      json_text(measured.table.gpu), constants, interference_json(fitted.slowdown), interference_json(fitted.blocks),
      interference_json(unseen.slowdown), interference_json(unseen.blocks));
}

std::string profile_of(const Measured& measured, const InterferenceFit& fit) {
  std::string text = fmt::format(
      "# What computation and communication take from each other on {}.\n"
      "# Made by `ringwright calibrate interference`; use it with `preset: NAME` at the head of a scenario.\n"
      "# One multiprocessor copies {:.3g} GB/s, and adds {:.3g} GB/s.\n"
      "evidence: calibrated\nsource: {}\n\ninterference:\n  model: share\n",
      measured.table.gpu, fit.constants.copy_rate.count() * 1e-9, fit.constants.reduce_rate.count() * 1e-9,
      json_text("fit to " + measured.table.source));
  const std::vector<double> values = values_of(fit.constants);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const InterferenceConstantDoc& doc = interference_constants()[i];
    if (doc.key.empty() || !fit.matters[i]) continue;
    text += fmt::format(
        "  {}: {}\n", doc.key,
        doc.key == "streaming_share" ? fmt::format("{:.3g}%", 100.0 * values[i]) : fmt::format("{:.3g}", values[i]));
  }
  return text;
}

}  // namespace

Result<ValidationOutcome> validate_interference(const ValidationRequest& request) {
  constexpr TableKind kKind{.family = "interference",
                            .title = "Kernels concurrent with communication: predictions against measurements",
                            .docs = "interference",
                            .threshold = kInterferenceThreshold};
  return validate_tables(request, kKind, [&](const std::string& file) -> Result<TableScore> {
    const auto measured = read_measured(file, request.overrides);
    if (!measured) return tl::unexpected(measured.error());
    const InterferenceFit fit = fit_interference(measured->table.rows, measured->gpu);
    const Scores fitted = score(*measured, fit.constants, Rows::kFitted);
    const Scores unseen = score(*measured, fit.constants, Rows::kHeldOut);
    return TableScore{.gpu = measured->table.gpu,
                      .text = measured->table.gpu + "\n" + constants_text(fit) + score_line("fitted", fitted) +
                              score_line("new", unseen) + worst_text(*measured, fit.constants),
                      .json = interference_json(*measured, fit, fitted, unseen),
                      .plot = plot_of(*measured, fit.constants),
                      .parts = {{.name = "kernels", .fitted = fitted.slowdown, .unseen = unseen.slowdown}}};
  });
}

Result<CalibrationOutcome> calibrate_interference(const CalibrationRequest& request) {
  const auto file = only_table(request.files);
  if (!file) return tl::unexpected(file.error());
  const auto measured = read_measured(*file, request.overrides);
  if (!measured) return tl::unexpected(measured.error());
  const InterferenceFit fit = fit_interference(measured->table.rows, measured->gpu);
  const Scores fitted = score(*measured, fit.constants, Rows::kFitted);
  const Scores unseen = score(*measured, fit.constants, Rows::kHeldOut);
  return CalibrationOutcome{.text = measured->table.gpu + "\n" + constants_text(fit) + score_line("fitted", fitted) +
                                    score_line("new", unseen),
                            .json = interference_json(*measured, fit, fitted, unseen) + "\n",
                            .profile = profile_of(*measured, fit),
                            .warnings = cluster_has_no_effect(request.cluster, "interference")};
}

}  // namespace ringwright::validation
