// The rotary position embedding of queries and keys: one kernel, or a chain of PyTorch's operators.
//
// Fused (Transformer Engine, Apex, torch.compile): each value is read and written once. Eager: a product of complex
// numbers in fp32 (torchtitan, Llama's own code). Unfused: what Megatron-Core runs with apply_rope_fusion off, and with
// YaRN, whose factor of cosines and sines its fused kernel cannot apply (core/models/common/embeddings/rope_utils.py):
// x cos + rotate_half(x) sin, one kernel for each operator, separately for queries and keys.
#pragma once

#include <string>

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {

// Of so many values of any tensor.
void add_rotation(KernelMaker& make, const std::string& name, std::int64_t elements);

enum class RotaryPass { kForward, kBackward };
// Of a layer's queries and keys; nothing without a rotary position embedding.
void add_rotary_embedding(KernelMaker& make, const std::string& name, RotaryPass pass);

}  // namespace ringwright::workload
