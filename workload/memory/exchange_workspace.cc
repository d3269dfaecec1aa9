#include "workload/memory/exchange_workspace.h"

#include <algorithm>
#include <cmath>

#include "workload/kernels/gathered_key_kernels.h"
#include "workload/kernels/kernel_maker.h"
#include "workload/memory/activations.h"

namespace ringwright::workload {
namespace {

// In fp8 blocks travel as they are cast, and results are merged in fp32.
double ring_columns(const KernelContext& context, const KernelMaker& sizes) {
  if (context.ring <= 1 || context.gathered_blocks) return 0.0;
  const bool narrow = context.training.fused.fp8_attention;
  const double value = bytes_per_element(context.training.precision);
  const double blocks = (narrow ? bytes_per_element(DataType::kFp8) / value : 1.0) *
                        static_cast<double>(context.ring * (sizes.key + sizes.value));
  const double results = (narrow ? bytes_per_element(DataType::kFp32) / value : 1.0) *
                         static_cast<double>((context.ring + 1) * sizes.context);
  return blocks + results;
}

// The gradient of the result, and the queries' gradients of the chunks and joined, in addition to those of keys.
double gathered_columns_backward(const KernelContext& context, const KernelMaker& sizes) {
  if (!context.gathered_keys) return 0.0;
  const double keys = (2.0 + keys_of_chunks(context)) * static_cast<double>(gathered_key_columns(sizes, context));
  return keys + static_cast<double>(sizes.context + 2 * sizes.query);
}

Bytes beyond_stored(const KernelContext& context, LayerHalves halves, double columns) {
  if (columns <= 0.0 || halves.mixer != Mixer::kAttention) return Bytes(0);
  const double bytes = columns * static_cast<double>(context.tokens()) * bytes_per_element(context.training.precision);
  return std::max(Bytes(0), Bytes(std::llround(bytes)) - stored_by_mlp(context, halves));
}

bool recomputes_core(const TrainingOptions& training) {
  return training.recompute == Recompute::kFull || training.recomputes(&RecomputedModules::core_attention) ||
         (training.recompute == Recompute::kExceptSaved && !training.saved.core);
}

}  // namespace

Bytes forward_exchange_workspace(const KernelContext& context, LayerHalves halves) {
  return beyond_stored(context, halves, ring_columns(context, KernelMaker(context)));
}

Bytes backward_exchange_workspace(const KernelContext& context, LayerHalves halves) {
  const KernelMaker sizes(context);
  const double again = recomputes_core(context.training) ? ring_columns(context, sizes) : 0.0;
  return beyond_stored(context, halves, std::max(again, gathered_columns_backward(context, sizes)));
}

}  // namespace ringwright::workload
