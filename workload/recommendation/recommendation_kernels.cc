#include "workload/recommendation/recommendation_kernels.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "workload/recommendation/table_lookups.h"

namespace ringwright::workload {
namespace {

constexpr double kPositionBytes = 4.0;  // of a sorted index's sample
constexpr double kRadixBits = 8.0;      // that one pass of CUB's radix sort handles

Kernel memory_kernel(KernelFamily family, std::string name, double bytes, DataType type) {
  return {.family = family, .name = std::move(name), .type = type, .bytes = as_bytes(bytes)};
}

Kernel dense_gemm(const RecommendationModel& model, std::string name, const Kernel& sizes) {
  Kernel gemm = sizes;
  gemm.name = std::move(name);
  gemm.type = model.precision;
  const auto m = static_cast<double>(gemm.m), n = static_cast<double>(gemm.n), k = static_cast<double>(gemm.k);
  const auto batch = static_cast<double>(gemm.batch);
  gemm.flops = Flops(2.0 * batch * m * n * k);
  gemm.bytes = as_bytes(batch * (m * k + k * n + m * n) * bytes_per_element(model.precision));
  return gemm;
}

double dense_bytes(const RecommendationModel& model) {
  return bytes_per_element(model.precision);
}

double samples_times(std::int64_t samples, std::int64_t width) {
  return static_cast<double>(samples) * static_cast<double>(width);
}

}  // namespace

std::vector<Kernel> size_kernels(const RecommendationModel& model, const TablePlacement& placement) {
  const double numbers = static_cast<double>(table_count(model)) * ranks_of(placement);
  Kernel kernel = memory_kernel(KernelFamily::kCopy, "sizes to host", numbers * index_bytes(model), DataType::kFp32);
  kernel.host_reads = true;
  return {kernel};
}

std::vector<Kernel> lookup_kernels(const RecommendationModel& model, const std::string& name,
                                   const std::vector<TableShare>& tables) {
  if (tables.empty()) return {};
  double rows = 0.0, streams = 0.0;
  for (const TableShare& share : tables) {
    const auto count = static_cast<double>(share.tables);
    rows += count * share.lookups * in_sectors(row_bytes(model, share));
    streams += count * (share.lookups + share.samples) * index_bytes(model);
    streams += count * share.samples * static_cast<double>(share.columns) * bytes_per_element(model.comm_precision);
  }
  const double cached = cached_lookups(model, tables);
  const double as_stream = (1.0 - cached) / model.gather_efficiency + cached / model.lookup_cache.speed;
  Kernel kernel =
      memory_kernel(KernelFamily::kEmbedding, name, rows * as_stream + streams, model.embedding_precision);
  kernel.m = as_bytes(reach(model, tables)).count();
  return {kernel};
}

std::vector<Kernel> sort_kernels(const RecommendationModel& model, const std::string& name,
                                 const std::vector<TableShare>& tables) {
  if (tables.empty()) return {};
  double sorted = 0.0, all_rows = 0.0;
  for (const TableShare& share : tables) {
    all_rows += static_cast<double>(share.tables) * share.rows;
    sorted += static_cast<double>(share.tables) * share.lookups;
  }
  const double passes = std::max(1.0, std::ceil(std::log2(std::max(2.0, all_rows)) / kRadixBits));
  const double moved = sorted * (index_bytes(model) + kPositionBytes) * 2.0 * passes;
  return {memory_kernel(KernelFamily::kEmbedding, name + " sort", moved, DataType::kFp32)};
}

std::vector<Kernel> sparse_update_kernels(const RecommendationModel& model, const std::string& name,
                                          const std::vector<TableShare>& tables) {
  if (tables.empty()) return {};
  double gradients = 0.0, updated = 0.0;
  for (const TableShare& share : tables) {
    const auto count = static_cast<double>(share.tables);
    const double gradient = static_cast<double>(share.columns) * bytes_per_element(model.comm_precision);
    const double first = std::min(share.samples, share.lookups) * gradient;
    const double again = share.lookups * gradient - first;
    const bool cached = first <= static_cast<double>(model.lookup_cache.bytes.count());
    gradients += count * (first + again / (cached ? model.lookup_cache.speed : 1.0));
    const double row = in_sectors(row_bytes(model, share)) + in_sectors(row_state_bytes(model, share.columns));
    updated += count * TableLookups(model, share).distinct(1.0) * 2.0 * row;
  }
  Kernel update = memory_kernel(KernelFamily::kEmbedding, name + " update",
                                gradients + updated / model.gather_efficiency, model.embedding_precision);
  update.m = as_bytes(reach(model, tables)).count();
  return {update};
}

std::vector<Kernel> dense_gradient_kernels(const RecommendationModel& model, const std::vector<TableShare>& tables) {
  if (tables.empty()) return {};
  double cleared = 0.0, added = 0.0;
  for (const TableShare& share : tables) {
    const double columns = static_cast<double>(share.tables * share.columns);
    cleared += columns * share.rows * kDenseBytes;
    added += columns * share.lookups * 3.0 * kDenseBytes;  // a gradient is read, a sum read and written
  }
  Kernel scatter =
      memory_kernel(KernelFamily::kEmbedding, "table gradient", added / model.gather_efficiency, DataType::kFp32);
  scatter.m = as_bytes(cleared).count();
  return {memory_kernel(KernelFamily::kCopy, "table gradient clear", cleared, DataType::kFp32), scatter};
}

std::vector<Kernel> layer_forward(const RecommendationModel& model, const DenseLayer& layer, std::int64_t samples) {
  std::vector<Kernel> kernels;
  const FrameworkTraits traits = traits_of(model.framework);
  const double each = dense_bytes(model);
  if (each < kDenseBytes && !traits.casts_in_optimizer) {
    kernels.push_back(memory_kernel(KernelFamily::kCast, layer.name + " cast",
                                    static_cast<double>(layer.parameters()) * (kDenseBytes + each), model.precision));
  }
  kernels.push_back(dense_gemm(model, layer.name, {.m = samples, .n = layer.outputs, .k = layer.inputs}));
  if (layer.activates && !traits.fused_epilogues) {
    kernels.push_back(memory_kernel(KernelFamily::kElementwise, "relu",
                                    samples_times(samples, layer.outputs) * 2 * each, model.precision));
  }
  return kernels;
}

std::vector<Kernel> input_gradient_kernels(const RecommendationModel& model, const DenseLayer& layer,
                                           std::int64_t samples, InputGradient input) {
  std::vector<Kernel> kernels;
  const double outputs = samples_times(samples, layer.outputs) * dense_bytes(model);
  if (layer.activates && !traits_of(model.framework).fused_epilogues)
    kernels.push_back(memory_kernel(KernelFamily::kElementwise, "relu backward", outputs * 3, model.precision));
  if (input == InputGradient::kNeeded) {
    kernels.push_back(dense_gemm(model, layer.name + " dgrad",
                                 {.m = samples, .n = layer.inputs, .k = layer.outputs, .role = GemmRole::kDgrad}));
  }
  return kernels;
}

std::vector<Kernel> weight_gradient_kernels(const RecommendationModel& model, const DenseLayer& layer,
                                            std::int64_t samples) {
  std::vector<Kernel> kernels{
      dense_gemm(model, layer.name + " wgrad",
                 {.m = layer.inputs, .n = layer.outputs, .k = samples, .role = GemmRole::kWgrad})};
  if (layer.bias && !traits_of(model.framework).fused_epilogues) {
    kernels.push_back(memory_kernel(KernelFamily::kElementwise, "bias gradient",
                                    samples_times(samples, layer.outputs) * dense_bytes(model), model.precision));
  }
  return kernels;
}

// The vectors of each sample are copied next to each other. Their dot products: F x F for F vectors, of which the part
// below the diagonal is gathered and put behind the bottom MLP's output.
std::vector<Kernel> interaction_forward(const RecommendationModel& model, std::int64_t samples) {
  const double each = dense_bytes(model);
  const std::int64_t inputs = model.bottom_mlp.back() + embedding_columns(model);
  std::vector<Kernel> kernels{
      memory_kernel(KernelFamily::kCopy, "concatenate", samples_times(samples, inputs) * 2 * each, model.precision)};
  if (model.interaction != Interaction::kDot) return kernels;
  const std::int64_t vectors = table_count(model) + 1;
  kernels.push_back(
      dense_gemm(model, "dot products", {.m = vectors, .n = vectors, .k = model.bottom_mlp.back(), .batch = samples}));
  kernels.push_back(memory_kernel(KernelFamily::kCopy, "gather triangle",
                                  samples_times(samples, interaction_width(model)) * 2 * each, model.precision));
  return kernels;
}

// Z = X X^T: the gradient of X is (G + G^T) X, as two GEMMs and their sum (torch.bmm of X and its transpose).
std::vector<Kernel> interaction_backward(const RecommendationModel& model, std::int64_t samples) {
  const double each = dense_bytes(model);
  const std::int64_t dim = model.bottom_mlp.back();
  const std::int64_t inputs = dim + embedding_columns(model);
  const Kernel split =
      memory_kernel(KernelFamily::kCopy, "split", samples_times(samples, inputs) * 2 * each, model.precision);
  if (model.interaction != Interaction::kDot) return {split};
  const std::int64_t vectors = table_count(model) + 1;
  const double square = samples_times(samples, vectors) * static_cast<double>(vectors);
  Kernel gradient = dense_gemm(model, "dot products dgrad",
                               {.m = vectors, .n = dim, .k = vectors, .batch = samples, .role = GemmRole::kDgrad});
  gradient.launches = 2;
  return {memory_kernel(KernelFamily::kCopy, "scatter triangle",
                        (square + samples_times(samples, interaction_width(model))) * each, model.precision),
          gradient,
          memory_kernel(KernelFamily::kElementwise, "add gradients", samples_times(samples, inputs) * 3 * each,
                        model.precision),
          split};
}

// x' = x0 * (U V x + b) + x: the GEMMs are layers of their own, the rest is one pass.
std::vector<Kernel> cross_forward(const RecommendationModel& model, std::int64_t samples) {
  return {memory_kernel(KernelFamily::kElementwise, "cross",
                        samples_times(samples, interaction_width(model)) * 4 * dense_bytes(model), model.precision)};
}

// Gradients of x0 and of U V x + b: reads the gradient, x0, U V x + b and the sum for x0; writes two.
std::vector<Kernel> cross_backward(const RecommendationModel& model, std::int64_t samples) {
  return {memory_kernel(KernelFamily::kElementwise, "cross backward",
                        samples_times(samples, interaction_width(model)) * 6 * dense_bytes(model), model.precision)};
}

// Sigmoid with binary cross-entropy, forward and backward, in fp32: a logit, a label and a gradient.
std::vector<Kernel> loss_kernels(const RecommendationModel& model, std::int64_t samples) {
  const double bytes = samples_times(samples, model.top_mlp.back()) * 3 * kDenseBytes;
  Kernel kernel = memory_kernel(KernelFamily::kElementwise, "binary cross-entropy", bytes, DataType::kFp32);
  kernel.launches = 2;
  return {kernel};
}

std::vector<Kernel> dense_update(const RecommendationModel& model, double parameters) {
  const double state = model.optimizer == SparseOptimizer::kSgd ? 0.0 : kDenseBytes;
  // A weight is read and written, a gradient read; HugeCTR also writes the weight in the type of the GEMMs.
  const double each = dense_bytes(model);
  const double copy = traits_of(model.framework).casts_in_optimizer && each < kDenseBytes ? each : 0.0;
  return {memory_kernel(KernelFamily::kOptimizer, "dense update",
                        parameters * (2 * kDenseBytes + gradient_bytes(model) + 2 * state + copy), DataType::kFp32)};
}

}  // namespace ringwright::workload
