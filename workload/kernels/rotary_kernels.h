// The rotary position embedding of queries and keys: one kernel, or a chain of PyTorch's operators.
//
// Fused (Transformer Engine, Apex, torch.compile): each value is read and written once. Eager: a product of complex
// numbers in fp32 (torchtitan, Llama's own code). Unfused: what Megatron-Core runs with apply_rope_fusion off, and with
// YaRN, whose factor of attention its fused kernel cannot apply (core/models/common/embeddings/rope_utils.py):
// x cos + rotate_half(x) sin, where queries and keys have kernels of their own.
#pragma once

#include <string>

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {

// Of so many values in one tensor that is not a layer's queries or keys.
void add_rotation(KernelMaker& make, const std::string& name, std::int64_t elements);

enum class RotaryPass { kForward, kBackward };
// Of queries and keys of a layer, or, for a pass that recomputes the keys alone, of both all the same; nothing if the
// model rotates none.
void add_rotary_embedding(KernelMaker& make, const std::string& name, RotaryPass pass);

}  // namespace ringwright::workload
