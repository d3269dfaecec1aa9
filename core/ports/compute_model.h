// The port that says how long arithmetic takes.
#pragma once

#include <compare>

#include "core/base/units.h"
#include "core/plan/kernel.h"

namespace ringwright {

// What communication holds of a GPU while a kernel runs beside it.
struct Contention {
  int sms = 0;       // multiprocessors that its thread blocks sit on
  Bandwidth memory;  // of device memory, that these would take if nobody else asked for it
  Bandwidth copies;  // of device memory, that copy engines take, whoever else asks for it

  friend auto operator<=>(const Contention&, const Contention&) = default;
};

class ComputeModel {
 public:
  virtual ~ComputeModel() = default;
  // Time of one launch of the kernel, launch overhead included.
  [[nodiscard]] virtual Duration duration(const Kernel& kernel) const = 0;
  // The same on what communication leaves of the GPU; not shorter than duration(). A model that knows nothing of it
  // answers duration().
  [[nodiscard]] virtual Duration duration_beside(const Kernel& kernel, const Contention& contention) const;
  // What the thread blocks get, of the device memory that they ask for, while the kernel runs beside them. A model that
  // knows nothing of it answers contention.memory.
  [[nodiscard]] virtual Bandwidth memory_beside(const Kernel& kernel, const Contention& contention) const;
  // Time that the host needs to issue one launch; 0 where the model does not look at the host.
  [[nodiscard]] virtual Duration issue_time(const Kernel& kernel) const;
  // The same for a collective or a message.
  [[nodiscard]] virtual Duration call_issue_time() const;
  // From the end of a message that the host has waited for, and of what was computed before, until its first kernel
  // after them runs.
  [[nodiscard]] virtual Duration resume_time() const;
  // Whether the kernel lies outside of what the model's constants were fitted on.
  [[nodiscard]] virtual bool extrapolates(const Kernel& kernel) const;
};

// All kernels of the work one after another.
[[nodiscard]] Duration duration(const ComputeModel& model, const Work& work);
[[nodiscard]] Duration duration_beside(const ComputeModel& model, const Work& work, const Contention& contention);
// In the mean over the time that they take.
[[nodiscard]] Bandwidth memory_beside(const ComputeModel& model, const Work& work, const Contention& contention);
// The host's time to issue all of them.
[[nodiscard]] Duration issue_time(const ComputeModel& model, const Work& work);

}  // namespace ringwright
