// One transformer layer on one GPU, as validation/gpu/train_step.py measures its two passes and its peak memory,
// against the kernels and tensors of a simulation of the same layer. Nothing is fitted to a row.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "configs/scenario/scenario.h"
#include "core/base/json_text.h"
#include "validation/builtin.h"
#include "validation/fit/error_statistics.h"
#include "validation/fit/kernel_plot.h"
#include "validation/kernels/gpu_tables.h"
#include "validation/tables/csv_table.h"
#include "validation/tables/shipped_files.h"
#include "validation/tables/table_cells.h"
#include "validation/training/scenario.h"
#include "workload/layout/stage_balance.h"
#include "workload/memory/activations.h"

namespace ringwright::validation {
namespace {

constexpr double kLayersThreshold = 0.05;

struct MeasuredLayer {
  Place place;
  std::string model;
  std::int64_t hidden = 0, heads = 0, kv_heads = 0, ffn = 0, batch = 0, length = 0;
  double forward = 0.0, backward = 0.0;  // seconds
  double peak = 0.0;                     // bytes
};

struct LayerTable {
  std::string file;
  std::string gpu;  // shipped name
  std::string source;
  std::vector<MeasuredLayer> rows;
};

constexpr std::array<std::string_view, 14> kLayersColumns{"model",
                                                          "hidden",
                                                          "heads",
                                                          "kv_heads",
                                                          "ffn",
                                                          "batch",
                                                          "length",
                                                          "forward_us",
                                                          "forward_low_us",
                                                          "forward_high_us",
                                                          "backward_us",
                                                          "backward_low_us",
                                                          "backward_high_us",
                                                          "peak_bytes"};
constexpr std::array<std::string_view, 10> kLayersNeeded{"model", "hidden", "heads",      "kv_heads",    "ffn",
                                                         "batch", "length", "forward_us", "backward_us", "peak_bytes"};
constexpr TableCells::Format kLayersFormat{.of = "layers",
                                           .header = kMeasuredHeader,
                                           .columns = kLayersColumns,
                                           .needed = kLayersNeeded,
                                           .page = "validation/gpu/README.md"};

void read_layers_row(TableCells& cells, const CsvRow& row, LayerTable& table) {
  cells.check_row(row);
  const CsvCell* const model = cells.cell(row, "model");
  MeasuredLayer layer{.place = {.file = table.file, .line = row.line},
                      .model = model != nullptr ? model->text : std::string()};
  layer.hidden = cells.whole(row, "hidden", 1);
  layer.heads = cells.whole(row, "heads", 1);
  layer.kv_heads = cells.whole(row, "kv_heads", 1);
  layer.ffn = cells.whole(row, "ffn", 1);
  layer.batch = cells.whole(row, "batch", 1);
  layer.length = cells.whole(row, "length", 1);
  layer.forward = cells.number(row, "forward_us", 1.0, 1e-3) * 1e-6;
  layer.backward = cells.number(row, "backward_us", 1.0, 1e-3) * 1e-6;
  layer.peak = cells.number(row, "peak_bytes", 1.0, 1.0);
  for (const char* other : {"forward_low_us", "forward_high_us", "backward_low_us", "backward_high_us"}) {
    static_cast<void>(cells.number(row, other, 0.0, 0.0));
  }
  table.rows.push_back(std::move(layer));
}

// The layer as a model of one layer, trained as train_step.py trains whole ones.
Result<configs::Scenario> scenario_of(const MeasuredLayer& layer, const std::string& gpu,
                                      const TrainingConventions& conventions,
                                      const std::vector<std::string>& overrides) {
  TrainingRow row{.place = layer.place,
                  .id = "train_step-layer",
                  .model = layer.model,
                  .gpu = gpu,
                  .recompute = "none",
                  .precision = "bf16",
                  .framework = "pytorch-eager"};
  row.layers = row.gpus = row.gpus_per_node = row.tp = row.pp = row.dp = row.accumulation = 1;
  row.hidden = layer.hidden;
  row.heads = layer.heads;
  row.kv_heads = layer.kv_heads;
  row.ffn = layer.ffn;
  row.sequence = layer.length;
  row.micro_batch = row.global_batch = layer.batch;
  const auto made = make_scenario(row, conventions);
  if (!made) return tl::unexpected(failure("E163", made.error().reason, layer.place));
  return configs::load_scenario_text(fmt::format("{}:{}", layer.place.file, layer.place.line), made->yaml,
                                     {.overrides = overrides});
}

struct PredictedLayer {
  double forward = 0.0, backward = 0.0, peak = 0.0;
};

// Peak: weights and the tensors stored for the backward pass, and the larger of a second forward pass's tensors (the
// first one's are held while passes are timed) and the needs of a backward pass: gradients of all weights, and its
// workspace. In addition the layer's input, its result and their gradients.
PredictedLayer predict(const configs::Scenario& scenario) {
  const configs::Job& job = scenario.job;
  const workload::KernelContext context = workload::make_kernel_context(job.model, job.training, job.parallel);
  const workload::LayerPasses passes = workload::dense_layer_passes(context, *job.compute);
  const double weights = 2.0 * static_cast<double>(workload::count_elements(workload::attention_tensors(job.model, 1)) +
                                                   workload::count_elements(workload::mlp_tensors(job.model, 1)));
  const auto kept = static_cast<double>(workload::layer_activations(context).count());
  const auto workspace = static_cast<double>(workload::gradient_workspace(context).count());
  const double stream = 2.0 * static_cast<double>(context.tokens() * job.model.hidden);
  return {.forward = std::max(passes.forward.device, passes.forward.host),
          .backward = std::max(passes.backward.device, passes.backward.host),
          .peak = weights + kept + 3.0 * stream + std::max(kept + stream, weights + workspace)};
}

struct Quantity {
  std::string_view name;
  const char* colour;
  double MeasuredLayer::*measured;
  double PredictedLayer::*predicted;
};
constexpr std::array kQuantities = {
    Quantity{"forward", "#1f77b4", &MeasuredLayer::forward, &PredictedLayer::forward},
    Quantity{"backward", "#d62728", &MeasuredLayer::backward, &PredictedLayer::backward},
    Quantity{"peak of memory", "#2ca02c", &MeasuredLayer::peak, &PredictedLayer::peak}};

TableScore score(const LayerTable& table, const std::vector<PredictedLayer>& predicted) {
  TableScore answer{.gpu = table.gpu, .text = {}, .json = {}, .plot = {}, .parts = {}};
  answer.text = fmt::format("{}\n  {:<34}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}\n", table.gpu, "layer", "forward, us",
                            "predicted", "backward", "predicted", "peak, MiB", "predicted");
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const MeasuredLayer& row = table.rows[i];
    answer.text += fmt::format("  {:<34}{:>12.1f}{:>12.1f}{:>12.1f}{:>12.1f}{:>12.1f}{:>12.1f}\n",
                               fmt::format("{} {} x {}", row.model, row.batch, row.length), row.forward * 1e6,
                               predicted[i].forward * 1e6, row.backward * 1e6, predicted[i].backward * 1e6,
                               row.peak / 1048576.0, predicted[i].peak / 1048576.0);
  }
  std::vector<PlotSeries> series;
  std::string objects;
  for (const Quantity& quantity : kQuantities) {
    PlotSeries points{.name = std::string(quantity.name), .colour = quantity.colour, .points = {}};
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      points.points.push_back(
          {.predicted = predicted[i].*quantity.predicted, .measured = table.rows[i].*quantity.measured});
    }
    const ErrorStatistics errors = error_statistics(points.points);
    answer.text += fmt::format("  {:<34}{}\n", quantity.name, errors_text(errors));
    objects += fmt::format("{}{{\"of\": {}, \"rows\": {}, \"error\": {:.6g}}}", objects.empty() ? "" : ", ",
                           json_text(points.name), errors.count, errors.mean_abs);
    answer.parts.push_back({.name = points.name, .fitted = {}, .unseen = errors});
    if (quantity.predicted != &PredictedLayer::peak) series.push_back(std::move(points));
  }
  answer.json = fmt::format("{{\"gpu\": {}, \"layers\": [{}]}}", json_text(table.gpu), objects);
  answer.plot = {.name = "layers-" + table.gpu + ".svg", .text = scatter_svg("layers, " + table.gpu, series)};
  return answer;
}

}  // namespace

Result<ValidationOutcome> validate_layers(const ValidationRequest& request) {
  constexpr TableKind kKind{.family = "layers",
                            .title = "Transformer layers on one GPU: predictions against measurements",
                            .docs = "kernel-tables",
                            .threshold = kLayersThreshold};
  const auto conventions = read_conventions(shipped_folder("training"));
  if (!conventions) return tl::unexpected(conventions.error());
  return validate_tables(request, kKind, [&](const std::string& file) -> Result<TableScore> {
    const auto table = read_measured<LayerTable>(read_csv(file), kLayersFormat, read_layers_row);
    if (!table) return tl::unexpected(table.error());
    std::vector<PredictedLayer> predicted;
    for (const MeasuredLayer& row : table->rows) {
      const auto scenario = scenario_of(row, table->gpu, *conventions, request.overrides);
      if (!scenario) return tl::unexpected(scenario.error());
      predicted.push_back(predict(*scenario));
    }
    return score(*table, predicted);
  });
}

}  // namespace ringwright::validation
