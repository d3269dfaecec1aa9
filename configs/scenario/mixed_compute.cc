#include "configs/scenario/mixed_compute.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "configs/scenario/scenario.h"
#include "core/base/check.h"

namespace ringwright::configs {
namespace {

class MixedCompute final : public ComputeModel {
 public:
  explicit MixedCompute(std::vector<std::unique_ptr<ComputeModel>> kinds) : kinds_(std::move(kinds)) {}

  [[nodiscard]] Duration duration(const Kernel& kernel) const override { return first().duration(kernel); }
  [[nodiscard]] std::int64_t sms() const override { return first().sms(); }
  [[nodiscard]] Duration duration_under(const Kernel& kernel, const Contention& contention) const override {
    return first().duration_under(kernel, contention);
  }
  [[nodiscard]] Bandwidth memory_under(const Kernel& kernel, const Contention& contention) const override {
    return first().memory_under(kernel, contention);
  }
  [[nodiscard]] Duration issue_time(const Kernel& kernel) const override { return first().issue_time(kernel); }
  [[nodiscard]] Duration call_issue_time() const override { return first().call_issue_time(); }
  [[nodiscard]] Duration resume_time() const override { return first().resume_time(); }
  [[nodiscard]] bool extrapolates(const Kernel& kernel) const override { return first().extrapolates(kernel); }
  [[nodiscard]] const ComputeModel& of_gpu(int kind) const override {
    CHECK(static_cast<std::size_t>(kind) < kinds_.size(), "every kind of GPU has a model");
    return *kinds_[static_cast<std::size_t>(kind)];
  }

 private:
  [[nodiscard]] const ComputeModel& first() const { return *kinds_.front(); }

  std::vector<std::unique_ptr<ComputeModel>> kinds_;
};

}  // namespace

std::unique_ptr<ComputeModel> read_compute(ConfigMap root, const Cluster& cluster) {
  ConfigMap compute = root.map("compute", "how the time of kernels is computed");
  if (!cluster.mixed()) return workload::read_compute_model(compute, cluster.gpu);
  std::vector<std::unique_ptr<ComputeModel>> kinds;
  for (const HostGroup& group : cluster.groups) {
    kinds.push_back(workload::read_compute_model(compute, group.gpu));
    if (compute.has("model") || group.gpu.kernels.name.empty() == cluster.gpu.kernels.name.empty()) continue;
    compute.warn("", "W590",
                 fmt::format("kernels of {} were {}measured and those of {} were {}: their times differ in accuracy",
                             group.name, group.gpu.kernels.name.empty() ? "not " : "", cluster.groups.front().name,
                             cluster.gpu.kernels.name.empty() ? "not" : "measured"));
  }
  return std::make_unique<MixedCompute>(std::move(kinds));
}

}  // namespace ringwright::configs
