#include "workload/recommendation/recommendation_model.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace ringwright::workload {
namespace {

std::vector<DenseLayer> mlp_layers(std::string_view name, std::int64_t inputs,
                                   const std::vector<std::int64_t>& widths) {
  std::vector<DenseLayer> layers;
  for (const std::int64_t width : widths) {
    layers.push_back({.name = fmt::format("{} {}", name, layers.size()), .inputs = inputs, .outputs = width});
    inputs = width;
  }
  return layers;
}

}  // namespace

std::int64_t table_count(const RecommendationModel& model) {
  std::int64_t count = 0;
  for (const TableGroup& group : model.tables) count += group.count;
  return count;
}

std::int64_t embedding_columns(const RecommendationModel& model) {
  std::int64_t columns = 0;
  for (const TableGroup& group : model.tables) columns += group.count * group.dim;
  return columns;
}

double index_bytes(const RecommendationModel& model) {
  return traits_of(model.framework).index_bytes;
}

double gradient_bytes(const RecommendationModel& model) {
  return traits_of(model.framework).one_all_reduce ? bytes_per_element(model.precision) : kDenseBytes;
}

double row_state_bytes(const RecommendationModel& model, std::int64_t columns) {
  switch (model.optimizer) {
    case SparseOptimizer::kSgd: return 0.0;
    case SparseOptimizer::kRowwiseAdagrad: return 4.0;
    case SparseOptimizer::kAdagrad: return 4.0 * static_cast<double>(columns);
  }
  return 0.0;
}

std::int64_t weight_bits(const RecommendationModel& model) {
  return std::llround(8.0 * bytes_per_element(model.embedding_precision));
}

double row_weight_bytes(const RecommendationModel& model, std::int64_t columns) {
  return static_cast<double>(columns) * bytes_per_element(model.embedding_precision) + model.row_scale;
}

double table_bytes(const RecommendationModel& model, const TableGroup& group, std::int64_t columns) {
  return static_cast<double>(group.rows) * (row_weight_bytes(model, columns) + row_state_bytes(model, columns));
}

std::int64_t interaction_width(const RecommendationModel& model) {
  const std::int64_t dense = model.bottom_mlp.back();
  if (model.interaction != Interaction::kDot) return dense + embedding_columns(model);
  const std::int64_t vectors = table_count(model) + 1;
  return dense + vectors * (vectors - 1) / 2;
}

std::vector<DenseLayer> bottom_layers(const RecommendationModel& model) {
  return mlp_layers("bottom MLP", model.dense_features, model.bottom_mlp);
}

std::vector<DenseLayer> cross_layers(const RecommendationModel& model) {
  std::vector<DenseLayer> layers;
  if (model.interaction != Interaction::kDcn) return layers;
  const std::int64_t width = interaction_width(model);
  for (std::int64_t i = 0; i < model.dcn_layers; ++i) {
    layers.push_back({.name = fmt::format("cross {} down", i),
                      .inputs = width,
                      .outputs = model.dcn_low_rank,
                      .bias = false,
                      .activates = false});
    layers.push_back({.name = fmt::format("cross {} up", i),
                      .inputs = model.dcn_low_rank,
                      .outputs = width,
                      .bias = true,
                      .activates = false});
  }
  return layers;
}

std::vector<DenseLayer> top_layers(const RecommendationModel& model) {
  std::vector<DenseLayer> layers = mlp_layers("top MLP", interaction_width(model), model.top_mlp);
  layers.back().activates = false;  // the loss has the sigmoid
  return layers;
}

std::int64_t dense_parameters(const RecommendationModel& model) {
  std::int64_t sum = 0;
  for (const auto& layers : {bottom_layers(model), cross_layers(model), top_layers(model)}) {
    for (const DenseLayer& layer : layers) sum += layer.parameters();
  }
  return sum;
}

double parameter_count(const RecommendationModel& model) {
  auto sum = static_cast<double>(dense_parameters(model));
  for (const TableGroup& group : model.tables) {
    sum += static_cast<double>(group.count) * static_cast<double>(group.rows) * static_cast<double>(group.dim);
  }
  return sum;
}

}  // namespace ringwright::workload
