#include "core/ports/compute_model.h"

namespace ringwright {

std::int64_t ComputeModel::sms() const { return 0; }
Duration ComputeModel::duration_under(const Kernel& kernel, const Contention& /*contention*/) const {
  return duration(kernel);
}
Bandwidth ComputeModel::memory_under(const Kernel& /*kernel*/, const Contention& contention) const {
  return contention.memory;
}
Duration ComputeModel::launch_overhead(const Kernel& /*kernel*/) const { return Duration(0); }
Duration ComputeModel::issue_time(const Kernel& /*kernel*/) const { return Duration(0); }
Duration ComputeModel::call_issue_time() const { return Duration(0); }
Duration ComputeModel::resume_time() const { return Duration(0); }
bool ComputeModel::extrapolates(const Kernel& /*kernel*/) const { return false; }
const ComputeModel& ComputeModel::of_gpu(int /*kind*/) const { return *this; }

Duration duration(const ComputeModel& model, const Work& work) {
  if (work.recorded) return *work.recorded;
  const ComputeModel& own = model.of_gpu(work.gpu);
  Duration total;
  for (const Kernel& kernel : work.kernels) total += own.duration(kernel) * kernel.launches;
  return total;
}

Duration duration_under(const ComputeModel& model, const Work& work, const Contention& contention) {
  if (work.recorded) return *work.recorded;
  const ComputeModel& own = model.of_gpu(work.gpu);
  Duration total;
  for (const Kernel& kernel : work.kernels) total += own.duration_under(kernel, contention) * kernel.launches;
  return total;
}

Bandwidth memory_under(const ComputeModel& model, const Work& work, const Contention& contention) {
  const ComputeModel& own = model.of_gpu(work.gpu);
  double bytes = 0.0;
  double seconds = 0.0;
  for (const Kernel& kernel : work.kernels) {
    const double busy = to_seconds(own.duration_under(kernel, contention) * kernel.launches);
    bytes += own.memory_under(kernel, contention).count() * busy;
    seconds += busy;
  }
  return seconds > 0.0 ? Bandwidth(bytes / seconds) : contention.memory;
}

Bandwidth memory_drawn(const ComputeModel& model, const Work& work, const Contention& contention) {
  const double seconds = to_seconds(duration_under(model, work, contention));
  double bytes = 0.0;
  for (const Kernel& kernel : work.kernels) bytes += static_cast<double>(kernel.bytes.count() * kernel.launches);
  return seconds > 0.0 ? Bandwidth(bytes / seconds) : Bandwidth(0.0);
}

Duration issue_time(const ComputeModel& model, const Work& work) {
  const ComputeModel& own = model.of_gpu(work.gpu);
  Duration total;
  for (const Kernel& kernel : work.kernels) total += own.issue_time(kernel) * kernel.launches;
  return total;
}

}  // namespace ringwright
