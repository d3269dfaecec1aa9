#include "collectives/channel_chooser.h"

#include <array>
#include <string_view>

#include "collectives/builtin_channels.h"
#include "core/base/check.h"

namespace ringwright::collectives {

CollectivePlan FixedTuner::plan_message(const MessageCall&) const {
  CollectivePlan plan = plan_;
  plan.algorithm = channel_send().name();
  plan.paths.clear();
  plan.kind_of_host.clear();
  return plan;
}

bool sums_in_network(std::string_view algorithm, int hosts) {
  return hosts > 1 && (algorithm == "nvls" || algorithm.starts_with("collnet"));
}

// NCCL falls back to rings; traffic between pairs uses sends and receives.
ChannelChoice PlannedChooser::choose(const CollectiveCall& call) const {
  CollectivePlan plan = tuner_.plan(call);
  const std::array<std::string_view, 3> wanted = {plan.algorithm, "ring", "p2p"};
  for (const std::string_view name : wanted) {
    const ChannelAlgorithm* algorithm = find_channel_algorithm(name);
    if (algorithm == nullptr || !algorithm->supports(call, plan)) continue;
    if (sums_ == NetworkSums::kNo && sums_in_network(name, call.layout->host_count())) continue;
    plan.algorithm = algorithm->name();
    return {.algorithm = algorithm, .plan = plan};
  }
  CHECK(false, "rings and send/receive pairs support every kind of collective");
  return {};
}

}  // namespace ringwright::collectives
