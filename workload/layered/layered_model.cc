#include "workload/layered/layered_model.h"

namespace ringwright::workload {

std::int64_t parameters_of(const LayerRow& row) {
  const std::int64_t each = row.epilogue == LayerEpilogue::kNone ? 0 : row.epilogue == LayerEpilogue::kBias ? 1 : 2;
  return row.k * row.n + each * row.n;
}

double forward_flops(const LayerRow& row) {
  return 2.0 * static_cast<double>(row.positions) * static_cast<double>(row.k) * static_cast<double>(row.n);
}

bool has_winograd(const LayeredModel& model, const LayerRow& row) {
  constexpr std::int64_t kLeastChannels = 16;
  if (model.convolution != ConvolutionAlgorithm::kAuto || model.precision != DataType::kFp32) return false;
  const std::int64_t channels = row.k / 9;
  return row.k % 9 == 0 && channels >= kLeastChannels && row.positions > 1 && row.inputs == channels * row.positions;
}

double saved_elements(const LayerRow& row) {
  const double outputs = static_cast<double>(row.positions) * static_cast<double>(row.n);
  // ReLU works in place on the norm's output; without a norm, on the GEMM's.
  return outputs * (row.epilogue == LayerEpilogue::kBatchNorm ? 2.0 : 1.0);
}

std::int64_t parameter_count(const LayeredModel& model) {
  std::int64_t sum = 0;
  for (const LayerRow& row : model.layers) sum += row.count * parameters_of(row);
  return sum;
}

double forward_flops(const LayeredModel& model) {
  double sum = 0.0;
  for (const LayerRow& row : model.layers) sum += static_cast<double>(row.count) * forward_flops(row);
  return sum;
}

int state_values(LayeredOptimizer optimizer) {
  return optimizer == LayeredOptimizer::kSgd ? 0 : optimizer == LayeredOptimizer::kMomentum ? 1 : 2;
}

}  // namespace ringwright::workload
