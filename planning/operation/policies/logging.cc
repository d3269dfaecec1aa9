// Logging and undo: hosts log the messages between stages; after a loss only the lost stages compute the steps since
// the newest checkpoint again, shared by helpers, while the others wait (Swift, Zhong et al., TPDS 35(9)). A step that
// was partly applied is undone.
//
//   replay   lost steps x (time of a stage / time of a step) / helpers
#include "planning/operation/policies/builtin_policies.h"

namespace ringwright::planning {
namespace {

class Logging final : public RecoveryPolicy {
 public:
  Logging(const Operation& operation, double share, double overhead)
      : operation_(operation), share_(share), overhead_(overhead) {}

  [[nodiscard]] RecoveryPlan plan(const JobView& /*job*/, RandomStream& stream) const override {
    return {
        .stall = whole_restart(operation_, stream), .loss = Loss::kLog, .replay_share = share_, .whole_restart = true};
  }
  [[nodiscard]] std::optional<double> slowdown(const JobView& /*job*/) const override { return 1.0 + overhead_; }

 private:
  const Operation& operation_;
  double share_;
  double overhead_;
};

}  // namespace

std::unique_ptr<RecoveryPolicy> make_logging(ConfigMap map, const Operation& job) {
  const double stage = map.percent({.name = "stage_share",
                                    .doc = "time of a stage relative to a step: 1 less the bubble",
                                    .fallback = 1.0,
                                    .min = 0.0,
                                    .max = 1.0});
  const auto helpers = static_cast<double>(
      map.integer({.name = "helpers", .doc = "hosts that share the replay of a lost one", .fallback = 1, .min = 1}));
  const double overhead =
      map.percent({.name = "overhead", .doc = "of logging on every step", .fallback = 0.0, .min = 0.0, .max = 10.0});
  return std::make_unique<Logging>(job, stage / helpers, overhead);
}

}  // namespace ringwright::planning
