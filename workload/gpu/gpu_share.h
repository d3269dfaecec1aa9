// How kernels and communication on one GPU share it: one rule for both sides.
//
// Thread blocks of communication keep their multiprocessors. Of device memory, copy engines take what they need, since
// a few requests wait for nobody. The rest goes to kernel and thread blocks by what they ask for; where that is more
// than there is, each side may have its part of the multiprocessors, since memory serves requests as they come, and
// what one side leaves of its part is the other's (max-min fairness, weighted by multiprocessors):
//
//     kernel = min(asked by the kernel,        max(memory - asked by thread blocks, kernel's part of memory))
//     blocks = min(asked by the thread blocks, max(memory - drawn by the kernel,    their part of memory))
//
// Together they never draw more than memory has, and neither draws more than it asks for.
#pragma once

#include "core/plan/kernel.h"
#include "core/ports/compute_model.h"
#include "workload/gpu/gpu_spec.h"

namespace ringwright::workload {

class GpuShare {
 public:
  // `reached`: share of the data sheet's bandwidth that streams reach; what communication takes is of that.
  GpuShare(const GpuSpec& gpu, const Contention& contention, double reached);

  // The GPU as the kernel finds it: with fewer multiprocessors and their part of the arithmetic, memory at what is left
  // of it, though no more than the multiprocessors can draw: gpu.streaming_share of all suffice to draw all of it. At
  // least one is left.
  [[nodiscard]] GpuSpec of_kernel() const;
  // What thread blocks get of the memory that they ask for, beside a kernel that takes so long.
  [[nodiscard]] Bandwidth of_blocks(const Kernel& kernel, Duration beside) const;

 private:
  const GpuSpec& gpu_;
  Contention contention_;
  double all_;      // bytes a second that streams reach
  double left_;     // of these, by copy engines
  double blocks_part_;
};

}  // namespace ringwright::workload
