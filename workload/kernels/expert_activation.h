// The rows of a rank's experts, and the kernels between their two GEMMs.
#pragma once

#include <cstdint>

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {

struct ExpertSizes {
  std::int64_t local = 1;  // experts of this rank
  std::int64_t width = 1;  // of an expert on this rank
  std::int64_t gated = 1;
  double rows = 0.0;
};

[[nodiscard]] ExpertSizes expert_sizes(const KernelContext& context);

// A kernel on all rows, or without grouped GEMMs one for each expert.
void stream_experts(KernelMaker& make, const ExpertSizes& sizes, KernelFamily family, const char* name,
                    const KernelMaker::Touch& per_element);

// With the clamps of its input; not of a fused grouped MLP, whose GEMMs do this work.
void add_expert_activation(KernelMaker& make, const ExpertSizes& sizes);
void add_expert_activation_backward(KernelMaker& make, const ExpertSizes& sizes);

}  // namespace ringwright::workload
