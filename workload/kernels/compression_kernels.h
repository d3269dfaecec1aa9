// The kernels that encode gradients before their exchange, and decode and sum them after it.
//
// Memory bounds all of them: their time follows from the bytes they read and write. Top-k selects as PyTorch does
// (aten/native/cuda/TensorTopK.cu): one pass over the values for each digit of eight bits, and one to copy the chosen.
// PowerSGD multiplies the gradients by a thin matrix twice, and reads them each time.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/kernels/layer_kernels.h"

namespace ringwright::workload {

// With the division by the number of ranks, and with error feedback the addition of what the last step lost. Of
// PowerSGD: the first factor.
[[nodiscard]] std::vector<Kernel> encode_gradients(const KernelContext& context, std::int64_t elements);
// PowerSGD: the first factor is made orthogonal, the second one computed.
[[nodiscard]] std::vector<Kernel> second_factor(const KernelContext& context, std::int64_t elements);
// The encoded gradients of `ranks` ranks, or their encoded sum where the codec is linear.
[[nodiscard]] std::vector<Kernel> decode_gradients(const KernelContext& context, std::int64_t elements,
                                                   std::int64_t ranks);

}  // namespace ringwright::workload
