#include "workload/recommendation/recommendation_kernels.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "workload/recommendation/row_access.h"

namespace ringwright::workload {
namespace {

constexpr double kSector = 32.0;          // bytes of device memory that are read together
constexpr double kSortedKeyBytes = 12.0;  // a key of 8 bytes, and the position of its sample
constexpr double kRadixBits = 8.0;        // that one pass of CUB's radix sort handles

Bytes rounded(double bytes) {
  return scale(Bytes(1), bytes);
}

Kernel memory_kernel(KernelFamily family, std::string name, double bytes, DataType type) {
  return {.family = family, .name = std::move(name), .type = type, .bytes = rounded(bytes)};
}

Kernel dense_gemm(const RecommendationModel& model, std::string name, const Kernel& sizes) {
  Kernel gemm = sizes;
  gemm.name = std::move(name);
  gemm.type = model.precision;
  const auto m = static_cast<double>(gemm.m), n = static_cast<double>(gemm.n), k = static_cast<double>(gemm.k);
  const auto batch = static_cast<double>(gemm.batch);
  gemm.flops = Flops(2.0 * batch * m * n * k);
  gemm.bytes = rounded(batch * (m * k + k * n + m * n) * bytes_per_element(model.precision));
  return gemm;
}

double in_sectors(double bytes) {
  return std::ceil(bytes / kSector) * kSector;
}

double weight_bytes(const RecommendationModel& model, const TableShare& share) {
  return row_weight_bytes(model, share.columns);
}

// Random rows cannot be cached if all tables together do not fit the cache.
std::int64_t reach(const RecommendationModel& model, const std::vector<TableShare>& tables) {
  double bytes = 0.0;
  for (const TableShare& share : tables) {
    bytes += static_cast<double>(share.tables) * share.rows * weight_bytes(model, share);
  }
  return rounded(bytes).count();
}

double dense_bytes(const RecommendationModel& model) {
  return bytes_per_element(model.precision);
}

double samples_times(std::int64_t samples, std::int64_t width) {
  return static_cast<double>(samples) * static_cast<double>(width);
}

double ranks_of(const TablePlacement& placement) {
  return static_cast<double>(placement.role_of_rank.size());
}

}  // namespace

std::vector<TableShare> placed_tables(const RecommendationModel& model, const TablePlacement& placement,
                                      const PlacementRole& role) {
  std::vector<TableShare> shares;
  const auto batch = static_cast<double>(model.global_batch);
  for (std::size_t g = 0; g < model.tables.size(); ++g) {
    if (role.parts[g] == 0) continue;
    shares.push_back({.tables = role.parts[g],
                      .rows = static_cast<double>(model.tables[g].rows),
                      .columns = placement.groups[g].columns,
                      .lookups = batch * model.tables[g].pooling,
                      .samples = batch});
  }
  return shares;
}

std::vector<TableShare> row_wise_tables(const RecommendationModel& model, const TablePlacement& placement) {
  std::vector<TableShare> shares;
  const auto batch = static_cast<double>(model.global_batch);
  const double ranks = ranks_of(placement);
  for (std::size_t g = 0; g < model.tables.size(); ++g) {
    if (placement.groups[g].row_wise == 0) continue;
    shares.push_back({.tables = placement.groups[g].row_wise,
                      .rows = std::max(1.0, static_cast<double>(model.tables[g].rows) / ranks),
                      .columns = model.tables[g].dim,
                      .lookups = batch * model.tables[g].pooling / ranks,
                      .samples = batch});
  }
  return shares;
}

std::vector<TableShare> replicated_tables(const RecommendationModel& model, const TablePlacement& placement) {
  std::vector<TableShare> shares;
  const double local = static_cast<double>(model.global_batch) / ranks_of(placement);
  for (std::size_t g = 0; g < model.tables.size(); ++g) {
    if (placement.groups[g].replicated == 0) continue;
    shares.push_back({.tables = placement.groups[g].replicated,
                      .rows = static_cast<double>(model.tables[g].rows),
                      .columns = model.tables[g].dim,
                      .lookups = local * model.tables[g].pooling,
                      .samples = local});
  }
  return shares;
}

// Uniformly -expm1(n log1p(-1/R)): exact for large R, too.
double distinct_rows(double rows, double lookups) {
  if (rows <= 1.0) return std::min(1.0, lookups);
  return -rows * std::expm1(lookups * std::log1p(-1.0 / rows));
}

double distinct_rows(const RecommendationModel& model, double rows, double lookups) {
  return model.zipf > 0.0 && rows > 1.0 ? RowAccess(rows, model.zipf).distinct(lookups) : distinct_rows(rows, lookups);
}

double fetched_rows(const RecommendationModel& model, double rows, double lookups) {
  if (!model.cache.on()) return 0.0;
  const RowAccess access(rows, model.zipf);
  const auto ahead = static_cast<double>(model.cache.lookahead);
  if (ahead > 0.0) return access.distinct(lookups * (ahead + 1.0)) - access.distinct(lookups * ahead);
  return access.distinct(lookups, model.cache.rows * rows);
}

double held_rows(const RecommendationModel& model, double rows, double lookups) {
  if (!model.cache.on()) return rows;
  const auto ahead = static_cast<double>(model.cache.lookahead);
  if (ahead > 0.0) return RowAccess(rows, model.zipf).distinct(lookups * ahead);
  return model.cache.rows * rows + fetched_rows(model, rows, lookups);
}

std::vector<Kernel> size_kernels(const RecommendationModel& model, const TablePlacement& placement) {
  const double numbers = static_cast<double>(table_count(model)) * ranks_of(placement);
  Kernel kernel = memory_kernel(KernelFamily::kCopy, "sizes to host", numbers * kIndexBytes, DataType::kFp32);
  kernel.host_reads = true;
  return {kernel};
}

std::vector<Kernel> lookup_kernels(const RecommendationModel& model, const std::string& name,
                                   const std::vector<TableShare>& tables) {
  if (tables.empty()) return {};
  double rows = 0.0, streams = 0.0;
  for (const TableShare& share : tables) {
    const auto count = static_cast<double>(share.tables);
    rows += count * share.lookups * in_sectors(weight_bytes(model, share));
    streams += count * (share.lookups + share.samples) * kIndexBytes;
    streams += count * share.samples * static_cast<double>(share.columns) * bytes_per_element(model.comm_precision);
  }
  Kernel kernel = memory_kernel(KernelFamily::kEmbedding, name, rows / model.gather_efficiency + streams,
                                model.embedding_precision);
  kernel.m = reach(model, tables);
  return {kernel};
}

std::vector<Kernel> sparse_update_kernels(const RecommendationModel& model, const std::string& name,
                                          const std::vector<TableShare>& tables) {
  if (tables.empty()) return {};
  double sorted = 0.0, gradients = 0.0, updated = 0.0, all_rows = 0.0;
  for (const TableShare& share : tables) {
    const auto count = static_cast<double>(share.tables);
    all_rows += count * share.rows;
    sorted += count * share.lookups;
    gradients += count * share.lookups * static_cast<double>(share.columns) * bytes_per_element(model.comm_precision);
    const double row = in_sectors(weight_bytes(model, share)) + in_sectors(row_state_bytes(model, share.columns));
    updated += count * distinct_rows(model, share.rows, share.lookups) * 2.0 * row;
  }
  const double passes = std::max(1.0, std::ceil(std::log2(std::max(2.0, all_rows)) / kRadixBits));
  Kernel sort =
      memory_kernel(KernelFamily::kEmbedding, name + " sort", sorted * kSortedKeyBytes * 2.0 * passes, DataType::kFp32);
  Kernel update = memory_kernel(KernelFamily::kEmbedding, name + " update",
                                gradients + updated / model.gather_efficiency, model.embedding_precision);
  update.m = reach(model, tables);
  return {sort, update};
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
  scatter.m = rounded(cleared).count();
  return {memory_kernel(KernelFamily::kCopy, "table gradient clear", cleared, DataType::kFp32), scatter};
}

std::vector<Kernel> layer_forward(const RecommendationModel& model, const DenseLayer& layer, std::int64_t samples) {
  std::vector<Kernel> kernels;
  const double each = dense_bytes(model);
  if (each < kDenseBytes) {
    kernels.push_back(memory_kernel(KernelFamily::kCast, layer.name + " cast",
                                    static_cast<double>(layer.parameters()) * (kDenseBytes + each), model.precision));
  }
  kernels.push_back(dense_gemm(model, layer.name, {.m = samples, .n = layer.outputs, .k = layer.inputs}));
  if (layer.activates) {
    kernels.push_back(memory_kernel(KernelFamily::kElementwise, "relu",
                                    samples_times(samples, layer.outputs) * 2 * each, model.precision));
  }
  return kernels;
}

std::vector<Kernel> layer_backward(const RecommendationModel& model, const DenseLayer& layer, std::int64_t samples,
                                   InputGradient input) {
  std::vector<Kernel> kernels;
  const double outputs = samples_times(samples, layer.outputs) * dense_bytes(model);
  if (layer.activates)
    kernels.push_back(memory_kernel(KernelFamily::kElementwise, "relu backward", outputs * 3, model.precision));
  if (input == InputGradient::kNeeded) {
    kernels.push_back(dense_gemm(model, layer.name + " dgrad",
                                 {.m = samples, .n = layer.inputs, .k = layer.outputs, .role = GemmRole::kDgrad}));
  }
  kernels.push_back(dense_gemm(model, layer.name + " wgrad",
                               {.m = layer.inputs, .n = layer.outputs, .k = samples, .role = GemmRole::kWgrad}));
  if (layer.bias)
    kernels.push_back(memory_kernel(KernelFamily::kElementwise, "bias gradient", outputs, model.precision));
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
  return {memory_kernel(KernelFamily::kOptimizer, "dense update", parameters * (3 * kDenseBytes + 2 * state),
                        DataType::kFp32)};
}

}  // namespace ringwright::workload
