// What DeepSpeed and PyTorch do to gather a weight into a list with the part of every rank (DeepSpeed before 0.4.1,
// partition_parameters.py: _allgather_param; PyTorch, ProcessGroupNCCL.cpp: allgather of lists).
//
// The result is cleared, and a view of every part made, after the host has waited for the device. NCCL gathers into one
// buffer, from which each part is copied by a kernel of its own; the host issues these while the parts arrive. A turn
// of either loop is taken to be as long as one of the loop that issues a grouped GEMM (grouped.issue).
#pragma once

#include <cstdint>
#include <vector>

#include "workload/kernels/layer_kernels.h"

namespace ringwright::workload {

// A gathered weight, and how many ranks have a part of it.
struct ListedWeight {
  std::int64_t elements = 0;
  std::int64_t parts = 1;
};

[[nodiscard]] std::vector<Kernel> list_parts(const KernelContext& context, const ListedWeight& weight);
[[nodiscard]] std::vector<Kernel> issue_part_copies(const KernelContext& context, const ListedWeight& weight);
[[nodiscard]] std::vector<Kernel> copy_parts(const KernelContext& context, const ListedWeight& weight);

}  // namespace ringwright::workload
