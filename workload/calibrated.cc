// Calibrated: each kernel by the rule of its family, with the few constants that were fitted to measurements of this
// GPU; and the host, which cannot issue kernels faster than its framework runs.
//
// The host's time counts where the host falls behind (core/run/host_clock.h). CUDA graphs replay kernels without it.
#include <algorithm>
#include <array>
#include <string>

#include "core/base/check.h"
#include "workload/builtin.h"
#include "workload/gpu_share.h"
#include "workload/kernels/kernel_rules.h"

namespace ringwright::workload {
namespace {

using namespace ringwright::literals;

// Ahead of the device, waiting for each kernel before it issues the next (CUDA_LAUNCH_BLOCKING), or replaying graphs.
enum class HostPace { kIssues, kBlocks, kReplays };

class Calibrated final : public ComputeModel {
 public:
  struct Pace {
    HostPace host = HostPace::kIssues;
    Duration issue;           // of one kernel
    double step_speed = 1.0;  // of kernels in a training step, against the same kernels alone
  };
  Calibrated(const GpuSpec& gpu, const Pace& pace)
      : gpu_(gpu), pace_(pace.host), issue_(pace.issue), step_speed_(pace.step_speed) {}

  [[nodiscard]] Duration duration(const Kernel& kernel) const override {
    CHECK(kernel.flops <= Flops(0.0) || gpu_.peak_of(kernel.type) > FlopRate(0.0), "check_precision has been asked");
    const Duration busy = from_seconds(kernel_seconds(kernel, gpu_) / step_speed_);
    return pace_ == HostPace::kBlocks ? busy + issue_ : busy;
  }
  [[nodiscard]] Duration duration_beside(const Kernel& kernel, const Contention& contention) const override {
    return Calibrated(what_is_left(gpu_, contention), {.host = pace_, .issue = issue_, .step_speed = step_speed_})
        .duration(kernel);
  }
  [[nodiscard]] Duration issue_time(const Kernel& kernel) const override {
    if (pace_ != HostPace::kIssues) return Duration(0);
    return issue_ + from_seconds(library_issue_seconds(kernel, gpu_));
  }
  // A collective's kernel is issued like any other.
  [[nodiscard]] Duration call_issue_time() const override {
    return pace_ == HostPace::kIssues ? issue_ : Duration(0);
  }
  [[nodiscard]] bool extrapolates(const Kernel& kernel) const override { return !within_fit(kernel, gpu_.kernels); }

 private:
  GpuSpec gpu_;
  HostPace pace_;
  Duration issue_;
  double step_speed_;
};

}  // namespace

std::unique_ptr<ComputeModel> make_calibrated(ConfigMap& compute, const GpuSpec& gpu) {
  const bool graphs = compute.boolean(
      {.name = "cuda_graphs", .doc = "kernels are replayed from CUDA graphs, without the host", .fallback = false});
  const bool blocking = compute.boolean({.name = "launch_blocking",
                                         .doc = "the host waits for each kernel before it issues the next one, as with "
                                                "CUDA_LAUNCH_BLOCKING=1",
                                         .fallback = false});
  if (graphs && blocking) {
    compute.warn("launch_blocking", "W131",
                 compute.path_of("launch_blocking") + " has no effect: kernels of graphs are replayed without the host");
  }
  const Duration issue = compute.duration({.name = "host_issue",
                                           .doc = "time that the framework on the host needs to issue one kernel",
                                           .fallback = 4_us,
                                           .min = 0_us,
                                           .max = 1_ms});
  if (!graphs && !compute.has("host_issue")) {
    compute.assume("host_issue", "4us", "an eager framework issues 200 to 300 thousand kernels a second");
  }
  if (gpu.kernels.name.empty()) {
    compute.assume("model", "class values",
                   "nobody measured kernels of this GPU: cluster.node.gpu.kernels is not given");
  }
  const HostPace pace = graphs ? HostPace::kReplays : blocking ? HostPace::kBlocks : HostPace::kIssues;
  const double step_speed = compute.percent(
      {.name = "step_speed",
       .doc = "speed of kernels in a training step against that of the same kernels measured alone: what power limit, "
              "cold caches and gaps leave when the device never rests",
       .fallback = gpu.kernels[KernelConstant::kStepSpeed],
       .min = 0.1,
       .max = 1.0});
  return std::make_unique<Calibrated>(gpu,
                                      Calibrated::Pace{.host = pace, .issue = issue, .step_speed = step_speed});
}

}  // namespace ringwright::workload
