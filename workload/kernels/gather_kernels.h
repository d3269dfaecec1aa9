// The kernels around gathers of sharded parameters.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/kernels/layer_kernels.h"

namespace ringwright::workload {

// Of sharded parameters: a rank's shard of a gather, stored in fp32, in the working type; copied into the buffer of the
// gather; and all parameters copied out of it. `narrow`: those that are gathered in the type of fp8 GEMMs.
struct GatheredElements {
  std::int64_t all = 0;
  std::int64_t narrow = 0;
};
[[nodiscard]] std::vector<Kernel> cast_shard(const KernelContext& context, const GatheredElements& elements);
[[nodiscard]] std::vector<Kernel> copy_shard(const KernelContext& context, const GatheredElements& elements);
[[nodiscard]] std::vector<Kernel> copy_gathered(const KernelContext& context, const GatheredElements& elements);
// Sharded weights have no place for a cast copy: they are cast to the type of fp8 and fp4 GEMMs wherever they are used,
// or, where they are gathered in it, transposed for a backward pass (torchao, float8_linear.py). Empty: neither.
enum class WeightUse { kForward, kBackward, kRecomputedBackward };
struct UsedWeights {
  std::int64_t elements = 0;
  std::int64_t matrices = 0;
  bool narrow = false;  // they were gathered in the type of their GEMMs
};
[[nodiscard]] std::vector<Kernel> cast_gathered(const KernelContext& context, const UsedWeights& weights,
                                                WeightUse use);

// What DeepSpeed and PyTorch do to gather a weight into a list with the part of every rank (DeepSpeed before 0.4.1,
// partition_parameters.py: _allgather_param; PyTorch, ProcessGroupNCCL.cpp: allgather of lists).
//
// The result is cleared, and a view of every part made, after the host has waited for the device. NCCL gathers into one
// buffer, from which each part is copied by a kernel of its own; the host issues these while the parts arrive. A turn
// of either loop is taken to be as long as one of the loop that issues a grouped GEMM (grouped.issue).
//
// A gathered weight, and how many ranks have a part of it.
struct ListedWeight {
  std::int64_t elements = 0;
  std::int64_t parts = 1;
};

[[nodiscard]] std::vector<Kernel> list_parts(const KernelContext& context, const ListedWeight& weight);
[[nodiscard]] std::vector<Kernel> issue_part_copies(const KernelContext& context, const ListedWeight& weight);
[[nodiscard]] std::vector<Kernel> copy_parts(const KernelContext& context, const ListedWeight& weight);

}  // namespace ringwright::workload
