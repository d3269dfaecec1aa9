// How kernels and communication on one GPU share it: one rule for both sides.
//
// Thread blocks of communication keep their multiprocessors. Of device memory bandwidth, copy engines take what they
// need, since their few requests do not queue. The rest is shared between kernel and thread blocks by demand; if demand
// exceeds supply, each side gets a share proportional to its multiprocessors, since memory serves requests in order of
// arrival, and unused share goes to the other side (max-min fairness, weighted by multiprocessors):
//
//     kernel = min(kernel's demand,       max(memory - thread blocks' demand, kernel's share of memory))
//     blocks = min(thread blocks' demand, max(memory - drawn by the kernel,   their share of memory))
//
// A process may be limited to some of the multiprocessors (MPS), or to an instance with a part of them and of the
// memory, where the same rule holds (MIG).
//
// Together they never draw more than the memory bandwidth, and neither draws more than its demand.
#pragma once

#include <cstdint>

#include "core/plan/kernel.h"
#include "core/ports/compute_model.h"
#include "workload/gpu/gpu_spec.h"

namespace ringwright::workload {

class GpuShare {
 public:
  // `reached`: share of the data sheet's bandwidth that streams reach; communication takes its share of that.
  GpuShare(const GpuSpec& gpu, const Contention& contention, double reached);

  // The GPU that remains for the kernel: fewer multiprocessors with their share of the arithmetic, and the remaining
  // memory bandwidth, but no more than these multiprocessors can draw: gpu.streaming_share of all suffice to draw all
  // of it. At least one multiprocessor remains.
  [[nodiscard]] GpuSpec of_kernel() const;
  // The share of their memory demand that thread blocks get, concurrently with a kernel of this duration.
  [[nodiscard]] Bandwidth of_blocks(const Kernel& kernel, Duration busy) const;

 private:
  const GpuSpec& gpu_;
  Contention contention_;
  std::int64_t sms_;  // of the process's instance: all where there are none
  double all_;      // bytes per second that streams reach
  double left_;     // of these, by copy engines
  double blocks_part_;
};

}  // namespace ringwright::workload
