// The port for the time of computation.
#pragma once

#include <compare>
#include <cstdint>

#include "core/base/units.h"
#include "core/plan/kernel.h"

namespace ringwright {

// What communication occupies of a GPU while a kernel runs concurrently.
struct Contention {
  int sms = 0;       // multiprocessors that its thread blocks occupy
  Bandwidth memory;  // of device memory, that these would take without competition
  Bandwidth copies;  // of device memory, that copy engines take regardless of competition
  // Where processes share the GPU: the most multiprocessors that the kernel may use, and what the instance of its
  // process has of the multiprocessors and of the memory. Shares of the GPU.
  double most_sms = 1.0;
  double instance_sms = 1.0;
  double instance_memory = 1.0;

  friend auto operator<=>(const Contention&, const Contention&) = default;
};

class ComputeModel {
 public:
  virtual ~ComputeModel() = default;
  // Multiprocessors of the GPU; 0 where the model has none, and with it no contention.
  [[nodiscard]] virtual std::int64_t sms() const;
  // Time of one launch of the kernel, launch overhead included.
  [[nodiscard]] virtual Duration duration(const Kernel& kernel) const = 0;
  // The part of duration() that any launch takes, however little work it has; 0 where the model has none.
  [[nodiscard]] virtual Duration launch_overhead(const Kernel& kernel) const;
  // The same as duration() on the rest of the GPU that communication leaves; not shorter than duration(). A model
  // without contention returns duration().
  [[nodiscard]] virtual Duration duration_under(const Kernel& kernel, const Contention& contention) const;
  // The device-memory bandwidth that the thread blocks get, of what they ask for, while the kernel runs concurrently. A
  // model without contention returns contention.memory.
  [[nodiscard]] virtual Bandwidth memory_under(const Kernel& kernel, const Contention& contention) const;
  // Time that the host needs to issue one launch; 0 where the model ignores the host.
  [[nodiscard]] virtual Duration issue_time(const Kernel& kernel) const;
  // The same for a collective or a message.
  [[nodiscard]] virtual Duration call_issue_time() const;
  // From the end of a message that the host has waited for, and of the computation before it, until its first kernel
  // after them runs.
  [[nodiscard]] virtual Duration resume_time() const;
  // Whether the kernel lies outside the range on which the model's constants were fitted.
  [[nodiscard]] virtual bool extrapolates(const Kernel& kernel) const;
  // The model of one kind of GPU (Work::gpu). Where there is only one kind, it is the model itself.
  [[nodiscard]] virtual const ComputeModel& of_gpu(int kind) const;
};

// All kernels of the work one after another, on the GPU of the work; of recorded work its time.
[[nodiscard]] Duration duration(const ComputeModel& model, const Work& work);
[[nodiscard]] Duration duration_under(const ComputeModel& model, const Work& work, const Contention& contention);
// The mean over their time.
[[nodiscard]] Bandwidth memory_under(const ComputeModel& model, const Work& work, const Contention& contention);
// The device-memory bandwidth that the kernels draw, the mean over their time.
[[nodiscard]] Bandwidth memory_drawn(const ComputeModel& model, const Work& work, const Contention& contention);
// The host's time to issue all of them.
[[nodiscard]] Duration issue_time(const ComputeModel& model, const Work& work);

}  // namespace ringwright
