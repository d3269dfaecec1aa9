#include "workload/layered/layered_step.h"

#include <utility>

#include <fmt/format.h>

#include "workload/layered/gradient_exchange.h"
#include "workload/layered/layer_gemms.h"
#include "workload/program/gradient_buckets.h"
#include "workload/program/graph_tables.h"
#include "workload/program/program_writer.h"

namespace ringwright::workload {
namespace {

Bytes layer_bytes_of(double bytes) {
  return scale(Bytes(1), bytes);
}

Bytes gradients_of(const LayerRow& row) {
  return layer_bytes_of(static_cast<double>(parameters_of(row)) * kLayerWeightBytes);
}

// Writes the program that all workers run.
class LayeredWriter {
 public:
  LayeredWriter(const LayeredModel& model, const LayeredLayout& layout, bool is_server, GraphTables& tables)
      : model_(model),
        samples_(static_cast<double>(model.global_batch / layout.workers())),
        tables_(tables),
        writer_(tables, "layers"),
        buckets_(model.bucket, model.first_bucket),
        exchange_(model, layout, is_server) {}

  [[nodiscard]] Program write() && {
    name("forward");
    for (const LayerRow& row : model_.layers) {
      for (std::int64_t i = 0; i < row.count; ++i) run(forward(row));
    }
    name("backward");
    for (std::size_t r = model_.layers.size(); r-- > 0;) {
      const LayerRow& row = model_.layers[r];
      for (std::int64_t i = row.count; i-- > 0;) {
        run(backward(row, r > 0 || i > 0));
        exchange_.exchange(writer_, buckets_.add(gradients_of(row)));
      }
    }
    exchange_.exchange(writer_, buckets_.close());
    exchange_.wait(writer_);
    name("optimizer");
    if (!exchange_.servers_update()) update();
    return writer_.finish(exchange_.streams());
  }

 private:
  void name(const std::string& text) { writer_.name_work({.label = text, .work = text}); }
  void run(std::vector<Kernel> kernels) { writer_.compute(tables_.add_section(std::move(kernels))); }

  void update() {
    const double weights = static_cast<double>(parameter_count(model_));
    // Reads weight, gradient and state; writes weight and state.
    const double each = kLayerWeightBytes * (3.0 + 2.0 * state_values(model_.optimizer));
    run({{.family = KernelFamily::kOptimizer, .name = "update", .type = DataType::kFp32,
          .bytes = layer_bytes_of(weights * each)}});
  }
  [[nodiscard]] double element() const { return bytes_per_element(model_.precision); }
  [[nodiscard]] double outputs(const LayerRow& row) const {
    return samples_ * static_cast<double>(row.positions) * static_cast<double>(row.n);
  }

  void add_pass(std::vector<Kernel>& kernels, KernelFamily family, std::string text, double elements) const {
    kernels.push_back({.family = family, .name = std::move(text), .type = model_.precision,
                       .bytes = layer_bytes_of(elements * element())});
  }

  [[nodiscard]] std::vector<Kernel> forward(const LayerRow& row) const {
    std::vector<Kernel> kernels;
    add_layer_gemm(model_, {.row = row, .samples = samples_, .role = GemmRole::kForward}, kernels);
    // Reads for the mean and variance, reads again, and writes.
    if (row.epilogue == LayerEpilogue::kBatchNorm)
      add_pass(kernels, KernelFamily::kNorm, "batch norm", 3 * outputs(row));
    if (row.epilogue == LayerEpilogue::kBias)
      add_pass(kernels, KernelFamily::kElementwise, "bias", 2 * outputs(row));
    if (row.activates) add_pass(kernels, KernelFamily::kElementwise, "relu", 2 * outputs(row));
    return kernels;
  }

  [[nodiscard]] std::vector<Kernel> backward(const LayerRow& row, bool input_gradient) const {
    std::vector<Kernel> kernels;
    if (row.activates) add_pass(kernels, KernelFamily::kElementwise, "relu backward", 3 * outputs(row));
    // Reads input and gradient for the two sums, reads both again, and writes.
    if (row.epilogue == LayerEpilogue::kBatchNorm)
      add_pass(kernels, KernelFamily::kNorm, "batch norm backward", 5 * outputs(row));
    if (row.epilogue == LayerEpilogue::kBias)
      add_pass(kernels, KernelFamily::kElementwise, "bias gradient", outputs(row));
    if (input_gradient) add_layer_gemm(model_, {.row = row, .samples = samples_, .role = GemmRole::kDgrad}, kernels);
    add_layer_gemm(model_, {.row = row, .samples = samples_, .role = GemmRole::kWgrad}, kernels);
    return kernels;
  }

  const LayeredModel& model_;
  double samples_;  // of one rank
  GraphTables& tables_;
  ProgramWriter writer_;
  GradientBuckets buckets_;
  GradientExchange exchange_;
};

// A dedicated server has no layers.
Program server_program(const LayeredModel& model, const LayeredLayout& layout, GraphTables& tables) {
  ProgramWriter writer(tables, "parameter server");
  GradientExchange exchange(model, layout, true);
  for (const Bytes bytes : gradient_buckets(model)) exchange.exchange(writer, bytes);
  exchange.wait(writer);
  return writer.finish(exchange.streams());
}

// By rank: 0 of a worker, 1 of a server, where both exist.
void add_programs(const LayeredModel& model, const LayeredLayout& layout, GraphTables& tables, TaskGraph& graph) {
  const bool all_serve = layout.is_server(0);
  graph.programs.push_back(LayeredWriter(model, layout, all_serve, tables).write());
  const bool some_serve = layout.servers.count > 0 && !all_serve;
  if (some_serve && layout.servers.dedicated) graph.programs.push_back(server_program(model, layout, tables));
  if (some_serve && !layout.servers.dedicated) {
    graph.programs.push_back(LayeredWriter(model, layout, true, tables).write());
  }
  for (std::int64_t rank = 0; rank < layout.ranks; ++rank) {
    graph.program_of.emplace_back(some_serve && layout.is_server(rank) ? 1 : 0);
  }
}

}  // namespace

std::vector<Bytes> gradient_buckets(const LayeredModel& model) {
  GradientBuckets buckets(model.bucket, model.first_bucket);
  std::vector<Bytes> sizes;
  const auto take = [&](Bytes bytes) {
    if (bytes > Bytes(0)) sizes.push_back(bytes);
  };
  for (std::size_t r = model.layers.size(); r-- > 0;) {
    for (std::int64_t i = 0; i < model.layers[r].count; ++i) take(buckets.add(gradients_of(model.layers[r])));
  }
  take(buckets.close());
  return sizes;
}

StepPlan build_layered_step(const LayeredModel& model, const LayeredLayout& layout) {
  StepPlan plan;
  GraphTables tables;
  add_programs(model, layout, tables, plan.graph);
  plan.graph.dimensions = exchange_dimensions(layout);
  Bytes gradients;
  for (const Bytes bytes : gradient_buckets(model)) gradients += bytes;
  plan.communication = {exchange_volume(layout, gradients)};
  tables.move_into(plan.graph);
  plan.parameters = parameter_count(model);
  plan.tokens = model.global_batch;
  plan.stage_parameters = {plan.parameters};
  // Forward, and two gradients for each layer but that of the first layer's input.
  const double sample = 3.0 * forward_flops(model) - forward_flops(model.layers.front());
  const auto batch = static_cast<double>(model.global_batch);
  plan.stage_flops = {Flops(sample * batch / static_cast<double>(layout.workers()))};
  plan.hardware_flops = Flops(sample * batch);
  plan.model_flops = plan.hardware_flops;
  plan.model_flops_full_attention = plan.hardware_flops;
  return plan;
}

std::vector<std::string> layered_dimensions(const LayeredLayout& layout) {
  return {layout.servers.count > 0 ? "dp_node" : "dp"};
}

}  // namespace ringwright::workload
