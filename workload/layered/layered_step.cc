#include "workload/layered/layered_step.h"

#include <utility>

#include <fmt/format.h>

#include "workload/program/gradient_buckets.h"
#include "workload/program/graph_tables.h"
#include "workload/program/program_writer.h"

namespace ringwright::workload {
namespace {

constexpr CommStream kLayeredGradients{.dimension = DimensionId(0), .stream = 1};

Bytes layer_bytes_of(double bytes) {
  return scale(Bytes(1), bytes);
}

Bytes gradients_of(const LayerRow& row) {
  return layer_bytes_of(static_cast<double>(parameters_of(row)) * kLayerWeightBytes);
}

// Writes the program that all ranks run.
class LayeredWriter {
 public:
  LayeredWriter(const LayeredModel& model, std::int64_t ranks, GraphTables& tables)
      : model_(model),
        ranks_(ranks),
        samples_(static_cast<double>(model.global_batch / ranks)),
        tables_(tables),
        writer_(tables, "layers"),
        buckets_(model.bucket, model.first_bucket) {}

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
        reduce(buckets_.add(gradients_of(row)));
      }
    }
    reduce(buckets_.close());
    for (const TaskIndex task : reduced_) writer_.wait(task);
    name("optimizer");
    const double weights = static_cast<double>(parameter_count(model_));
    // Reads weight, gradient and state; writes weight and state.
    const double each = kLayerWeightBytes * (3.0 + 2.0 * state_values(model_.optimizer));
    run({{.family = KernelFamily::kOptimizer, .name = "update", .type = DataType::kFp32,
          .bytes = layer_bytes_of(weights * each)}});
    return writer_.finish(ranks_ > 1 ? 2 : 1);
  }

 private:
  void name(const std::string& text) { writer_.name_work({.label = text, .work = text}); }
  void run(std::vector<Kernel> kernels) { writer_.compute(tables_.add_section(std::move(kernels))); }
  [[nodiscard]] double element() const { return bytes_per_element(model_.precision); }
  [[nodiscard]] double outputs(const LayerRow& row) const {
    return samples_ * static_cast<double>(row.positions) * static_cast<double>(row.n);
  }

  void reduce(Bytes bytes) {
    if (bytes == Bytes(0) || ranks_ < 2) return;
    reduced_.push_back(writer_.collective(kLayeredGradients, {.kind = CollectiveKind::kAllReduce, .bytes = bytes},
                                          fmt::format("gradients {}", reduced_.size())));
  }

  // Inputs and outputs of the layer as tensors, not as the matrices of its GEMM: the implicit algorithm reads them so.
  [[nodiscard]] Kernel gemm(const LayerRow& row, GemmRole role) const {
    const std::int64_t m = row.positions * static_cast<std::int64_t>(samples_);
    Kernel kernel{.name = row.name, .type = model_.precision, .m = m, .n = row.n, .k = row.k, .role = role};
    if (role == GemmRole::kDgrad) kernel.name += " dgrad", std::swap(kernel.n, kernel.k);
    if (role == GemmRole::kWgrad) kernel.name += " wgrad", kernel.m = row.k, kernel.k = m;
    kernel.flops = Flops(forward_flops(row) * samples_);
    const double inputs = samples_ * static_cast<double>(row.inputs);
    kernel.bytes = layer_bytes_of(element() * (inputs + outputs(row) + static_cast<double>(row.k * row.n)));
    return kernel;
  }

  void add_pass(std::vector<Kernel>& kernels, KernelFamily family, std::string text, double elements) const {
    kernels.push_back({.family = family, .name = std::move(text), .type = model_.precision,
                       .bytes = layer_bytes_of(elements * element())});
  }

  [[nodiscard]] std::vector<Kernel> forward(const LayerRow& row) const {
    std::vector<Kernel> kernels{gemm(row, GemmRole::kForward)};
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
    if (input_gradient) kernels.push_back(gemm(row, GemmRole::kDgrad));
    kernels.push_back(gemm(row, GemmRole::kWgrad));
    return kernels;
  }

  const LayeredModel& model_;
  std::int64_t ranks_;
  double samples_;  // of one rank
  GraphTables& tables_;
  ProgramWriter writer_;
  GradientBuckets buckets_;
  std::vector<TaskIndex> reduced_;
};

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

StepPlan build_layered_step(const LayeredModel& model, std::int64_t ranks) {
  StepPlan plan;
  GraphTables tables;
  plan.graph.programs.push_back(LayeredWriter(model, ranks, tables).write());
  for (std::int64_t rank = 0; rank < ranks; ++rank) plan.graph.program_of.emplace_back(0);
  plan.communication.emplace_back();
  if (ranks > 1) {
    plan.graph.dimensions.push_back(world_dimension(layered_dimensions().front(), static_cast<std::size_t>(ranks)));
    Bytes reduced;
    for (const Bytes bytes : gradient_buckets(model)) reduced += bytes;
    plan.communication.front() = {reduced};
  }
  tables.move_into(plan.graph);
  plan.parameters = parameter_count(model);
  plan.tokens = model.global_batch;
  plan.stage_parameters = {plan.parameters};
  // Forward, and two gradients for each layer but that of the first layer's input.
  const double sample = 3.0 * forward_flops(model) - forward_flops(model.layers.front());
  const auto batch = static_cast<double>(model.global_batch);
  plan.stage_flops = {Flops(sample * batch / static_cast<double>(ranks))};
  plan.hardware_flops = Flops(sample * batch);
  plan.model_flops = plan.hardware_flops;
  plan.model_flops_full_attention = plan.hardware_flops;
  return plan;
}

std::vector<std::string> layered_dimensions() {
  return {"dp"};
}

}  // namespace ringwright::workload
