// Validation and calibration of the executor's building blocks: rings among thread blocks of one GPU, measured by
// `validation/gpu`, against the same rings simulated as chunks.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "configs/scenario/gpu_preset.h"
#include "core/base/json_text.h"
#include "validation/builtin.h"
#include "validation/fit/error_statistics.h"
#include "validation/fit/kernel_plot.h"
#include "validation/gpu/primitives_play.h"
#include "validation/gpu/primitives_table.h"
#include "validation/kernels/gpu_tables.h"

namespace ringwright::validation {
namespace {

constexpr double kPrimitivesThreshold = 0.10;

struct Scored {
  PrimitivesFit fit;
  std::vector<MeasuredExchange> rows;  // of the protocol
  std::vector<double> played;
  ErrorStatistics fitted;
  ErrorStatistics unseen;
};

struct ScoredTable {
  PrimitivesTable table;
  std::vector<Scored> protocols;
};

Scored score(const PrimitivesTable& table, Protocol protocol, const workload::GpuSpec& gpu) {
  Scored scored{
      .fit = fit_primitives(table.rows, protocol, gpu), .rows = {}, .played = {}, .fitted = {}, .unseen = {}};
  std::ranges::copy_if(table.rows, std::back_inserter(scored.rows),
                       [&](const MeasuredExchange& row) { return row.protocol == protocol; });
  scored.played = play_rings(scored.rows, scored.fit.costs, gpu);
  std::vector<PredictedMeasured> fitted, unseen;
  for (std::size_t i = 0; i < scored.rows.size(); ++i) {
    (scored.rows[i].held_out ? unseen : fitted)
        .push_back({.predicted = scored.played[i], .measured = scored.rows[i].seconds});
  }
  scored.fitted = error_statistics(fitted);
  scored.unseen = error_statistics(unseen);
  return scored;
}

Result<ScoredTable> score_table(const std::string& file, const std::vector<std::string>& overrides) {
  auto table = read_primitives_table(file);
  if (!table) return tl::unexpected(table.error());
  const auto preset = configs::load_gpu(table->gpu, {.overrides = overrides});
  if (!preset) return tl::unexpected(preset.error());
  ScoredTable scored{.table = std::move(*table), .protocols = {}};
  for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple}) {
    const bool any = std::ranges::any_of(scored.table.rows, [&](const auto& row) { return row.protocol == protocol; });
    if (any) scored.protocols.push_back(score(scored.table, protocol, preset->gpu));
  }
  return scored;
}

std::string text_of(const ScoredTable& scored) {
  std::string text = scored.table.gpu + "\n";
  for (const Scored& of : scored.protocols) {
    const PrimitiveCosts& c = of.fit.costs;
    text += fmt::format("  {:<7} launch {}, hop {}, primitive {}, rate {}\n", to_string(of.fit.protocol),
                        to_string(c.launch), to_string(c.hop), to_string(c.primitive), to_string(c.rate));
    text += fmt::format("          fitted: {}; new: {}\n", errors_text(of.fitted), errors_text(of.unseen));
  }
  if (scored.table.left_out > 0) {
    text += fmt::format("  {} rows of trees or of queues without 8 slots are not simulated\n", scored.table.left_out);
  }
  return text;
}

std::string rows_json(const Scored& of) {
  std::string text;
  for (std::size_t i = 0; i < of.rows.size(); ++i) {
    const MeasuredExchange& row = of.rows[i];
    text += fmt::format(
        "{}{{\"ranks\": {}, \"channels\": {}, \"threads\": {}, \"slot_bytes\": {}, \"bytes\": {}, "
        "\"held_out\": {}, \"measured_s\": {:.6g}, \"predicted_s\": {:.6g}}}",
        text.empty() ? "" : ", ", row.ranks, row.channels, row.threads, row.slot.count(), row.bytes.count(),
        row.held_out, row.seconds, of.played[i]);
  }
  return text;
}

std::string json_of(const ScoredTable& scored) {
  std::string text = fmt::format("{{\"gpu\": {}, \"left_out\": {}, \"protocols\": [", json_text(scored.table.gpu),
                                 scored.table.left_out);
  for (const Scored& of : scored.protocols) {
    const PrimitiveCosts& c = of.fit.costs;
    text += fmt::format(
        "{}{{\"protocol\": \"{}\", \"launch_s\": {:.6g}, \"hop_s\": {:.6g}, \"primitive_s\": {:.6g}, "
        "\"rate_bytes_per_s\": {:.6g}, "
        "\"fitted\": {{\"count\": {}, \"mean\": {:.6g}, \"max\": {:.6g}}}, \"unseen\": {{\"count\": {}, \"mean\": "
        "{:.6g}, "
        "\"max\": {:.6g}}}, \"rows\": [{}]}}",
        &of == &scored.protocols.front() ? "" : ", ", to_string(of.fit.protocol), to_seconds(c.launch),
        to_seconds(c.hop), to_seconds(c.primitive), c.rate.count(), of.fitted.count, of.fitted.mean_abs,
        of.fitted.max_abs, of.unseen.count, of.unseen.mean_abs, of.unseen.max_abs, rows_json(of));
  }
  return text + "]}";
}

NamedText plot_of(const ScoredTable& scored) {
  constexpr std::array kColours = {"#1f77b4", "#2ca02c", "#d62728"};
  std::vector<PlotSeries> series;
  for (const Scored& of : scored.protocols) {
    PlotSeries points{.name = std::string(to_string(of.fit.protocol)), .colour = kColours[series.size()], .points = {}};
    for (std::size_t i = 0; i < of.rows.size(); ++i) {
      points.points.push_back({.predicted = of.played[i], .measured = of.rows[i].seconds});
    }
    series.push_back(std::move(points));
  }
  const std::string name = "primitives-" + scored.table.gpu;
  return {.name = name + ".svg", .text = scatter_svg(name, series)};
}

// The launch is that of the suite's own kernels, not of NCCL's, and stays out.
std::string profile_of(const ScoredTable& scored) {
  std::string text = fmt::format(
      "# The cost of a primitive in thread blocks of {}, by protocol, through device memory.\n"
      "# Made by `ringwright calibrate primitives`; use it with `preset: NAME` at the head of a scenario.\n"
      "evidence: calibrated\nsource: {}\n\ncomm:\n  costs:\n",
      scored.table.gpu, json_text("fit to " + scored.table.source));
  for (const Scored& of : scored.protocols) {
    const PrimitiveCosts& c = of.fit.costs;
    const std::vector<bool>& matters = of.fit.matters;
    text += fmt::format("    {}:\n", to_string(of.fit.protocol));
    if (matters[1]) text += fmt::format("      hop: {:.3g}us\n", to_seconds(c.hop) * 1e6);
    if (matters[2]) text += fmt::format("      primitive: {:.3g}us\n", to_seconds(c.primitive) * 1e6);
    if (matters[3]) text += fmt::format("      rate: {:.3g}GB/s\n", c.rate.count() * 1e-9);
  }
  return text;
}

}  // namespace

Result<ValidationOutcome> validate_primitives(const ValidationRequest& request) {
  constexpr TableKind kKind{.family = "primitives",
                            .title = "Rings among thread blocks: simulation against measurements",
                            .docs = "primitives",
                            .threshold = kPrimitivesThreshold};
  return validate_tables(request, kKind, [&](const std::string& file) -> Result<TableScore> {
    const auto scored = score_table(file, request.overrides);
    if (!scored) return tl::unexpected(scored.error());
    TableScore answer{.gpu = scored->table.gpu,
                      .text = text_of(*scored),
                      .json = json_of(*scored),
                      .plot = plot_of(*scored),
                      .parts = {}};
    for (const Scored& of : scored->protocols) {
      answer.parts.push_back(
          {.name = std::string(to_string(of.fit.protocol)), .fitted = of.fitted, .unseen = of.unseen});
    }
    return answer;
  });
}

Result<CalibrationOutcome> calibrate_primitives(const CalibrationRequest& request) {
  const auto file = only_table(request.files);
  if (!file) return tl::unexpected(file.error());
  const auto scored = score_table(*file, request.overrides);
  if (!scored) return tl::unexpected(scored.error());
  return CalibrationOutcome{.text = text_of(*scored), .json = json_of(*scored) + "\n", .profile = profile_of(*scored),
                            .warnings = cluster_has_no_effect(request.cluster, "primitives")};
}

}  // namespace ringwright::validation
