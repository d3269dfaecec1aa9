// Restart from a checkpoint: every rank ends, hosts are replaced, and all ranks start from the newest version.
#include "planning/operation/policies/builtin_policies.h"

namespace ringwright::planning {
namespace {

class RestartAll final : public RecoveryPolicy {
 public:
  explicit RestartAll(const Operation& operation) : operation_(operation) {}
  [[nodiscard]] RecoveryPlan plan(const JobView& /*job*/, RandomStream& stream) const override {
    return {.stall = whole_restart(operation_, stream), .loss = Loss::kVersion, .whole_restart = true};
  }

 private:
  const Operation& operation_;
};

}  // namespace

std::unique_ptr<RecoveryPolicy> make_restart(ConfigMap /*map*/, const Operation& job) {
  return std::make_unique<RestartAll>(job);
}

}  // namespace ringwright::planning
