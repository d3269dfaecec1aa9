// Calibrated: each kernel by the rule of its family, with the few constants that were fitted to measurements of this
// GPU; and the host, which cannot issue kernels faster than its framework runs.
//
// The host's time counts where the host falls behind (core/run/host_clock.h). CUDA graphs replay kernels without it.
#include <algorithm>
#include <array>
#include <string>

#include "core/base/check.h"
#include "workload/builtin.h"
#include "workload/kernels/kernel_rules.h"

namespace ringwright::workload {
namespace {

using namespace ringwright::literals;

enum class HostPace { kIssues, kReplays };

class Calibrated final : public ComputeModel {
 public:
  Calibrated(const GpuSpec& gpu, HostPace pace, Duration issue) : gpu_(gpu), pace_(pace), issue_(issue) {}

  [[nodiscard]] Duration duration(const Kernel& kernel) const override {
    CHECK(kernel.flops <= Flops(0.0) || gpu_.peak_of(kernel.type) > FlopRate(0.0), "check_precision has been asked");
    return from_seconds(kernel_seconds(kernel, gpu_));
  }
  [[nodiscard]] Duration issue_time(const Kernel& kernel) const override {
    if (pace_ == HostPace::kReplays) return Duration(0);
    return issue_ + from_seconds(library_issue_seconds(kernel, gpu_));
  }
  // A collective's kernel is issued like any other.
  [[nodiscard]] Duration call_issue_time() const override {
    return pace_ == HostPace::kReplays ? Duration(0) : issue_;
  }
  [[nodiscard]] bool extrapolates(const Kernel& kernel) const override { return !within_fit(kernel, gpu_.kernels); }

 private:
  GpuSpec gpu_;
  HostPace pace_;
  Duration issue_;
};

}  // namespace

std::unique_ptr<ComputeModel> make_calibrated(ConfigMap& compute, const GpuSpec& gpu) {
  const bool graphs = compute.boolean(
      {.name = "cuda_graphs", .doc = "kernels are replayed from CUDA graphs, without the host", .fallback = false});
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
  return std::make_unique<Calibrated>(gpu, graphs ? HostPace::kReplays : HostPace::kIssues, issue);
}

}  // namespace ringwright::workload
