// How kernels and communication on one GPU share it: one rule for both sides.
//
// Thread blocks of communication keep their multiprocessors. Of device memory bandwidth, copy engines take what they
// need, since their few requests do not queue. A thread block has as many loads in flight as its registers hold, so
// that its rate is inverse to the latency of a load, which grows with the use of memory by kernels; a kernel of many
// thread blocks always has loads in the queue, and gets what the others leave:
//
//     latency = 1 + (loaded latency - 1) drawn by the kernel / memory        relative to an idle memory
//     blocks = thread blocks' demand / latency
//     kernel = min(kernel's demand, memory - thread blocks' demand / loaded latency)
//
// No demand entitles thread blocks to more than the share of their multiprocessors, where memory is short.
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
  double entitled_;  // of these, by thread blocks while a kernel draws all it can
};

}  // namespace ringwright::workload
