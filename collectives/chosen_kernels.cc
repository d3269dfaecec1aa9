#include "collectives/chosen_kernels.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "collectives/builtin.h"
#include "collectives/builtin_channels.h"
#include "collectives/channel_chooser.h"

namespace ringwright::collectives {
namespace {

// The GPU order of the step algorithm, independent of the library's search: one ring host by host, or one ring or chain
// per position in a host.
void take_paths_of(std::string_view algorithm, const GroupLayout& layout, CollectivePlan& plan) {
  if (algorithm != "ring" && algorithm != "rail_rings" && algorithm != "double_tree") return;
  if (algorithm != "ring") {
    if (plan.ordered) {
      plan.paths.clear();
      plan.kind_of_host.clear();
    }
    plan.channels = std::max(plan.channels, layout.largest_host);
    return;
  }
  plan.paths.clear();
  plan.kind_of_host.clear();
  if (!layout.even()) return;
  HostPath host_by_host{.order = std::vector<int>(static_cast<std::size_t>(layout.largest_host))};
  std::iota(host_by_host.order.begin(), host_by_host.order.end(), 0);
  plan.paths = {{std::move(host_by_host)}};
}

}  // namespace

ChannelChoice ChosenKernels::choose(const CollectiveCall& call) const {
  const CollectiveAlgorithm* const named = inputs_.steps.named(call);
  if (call.layout->servers.count > 0) return {};
  if (named == nullptr && !inputs_.played && inputs_.steps.on_torus(call) != nullptr) return {};
  // A library's own algorithm is not one of NCCL's kernels.
  if (!inputs_.played && inputs_.steps.rule_of(call) != nullptr) return {};
  if (call.size() < 2 || (named == nullptr && !inputs_.steps.by_rule())) return inputs_.library.choose(call);
  const ChannelChoice own = kernel_for(named != nullptr ? *named : inputs_.steps.choose(call), call);
  // Where no kernel implements the choice of the simple rules, the library's choice stands for it.
  return own.algorithm != nullptr || named != nullptr ? own : inputs_.library.choose(call);
}

ChannelChoice ChosenKernels::kernel_for(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) const {
  const std::string_view name = kernel_of(algorithm, call);
  if (name.empty()) return {};
  if (name == "p2p") return inputs_.library.choose(call);
  if (sums_in_network(name, call.layout->host_count()) && !inputs_.network_sums) return {};
  const std::optional<NcclAlgorithm> nccl = parse_nccl_algorithm(name);
  ChannelChoice choice{.algorithm = find_channel_algorithm(name),
                       .plan = inputs_.fixed != nullptr || !nccl ? CollectivePlan() : inputs_.nccl.plan(call, *nccl)};
  if (inputs_.fixed != nullptr) choice.plan = *inputs_.fixed;
  choice.plan.algorithm = name;
  take_paths_of(algorithm.name(), *call.layout, choice.plan);
  const bool plays = choice.algorithm != nullptr && choice.algorithm->supports(call, choice.plan);
  return plays ? choice : ChannelChoice();
}

std::vector<std::string> algorithms_with_kernels(const CollectiveCall& call) {
  std::vector<std::string> names;
  for (const CollectiveAlgorithm* algorithm : algorithms()) {
    const std::string_view kernel = kernel_of(*algorithm, call);
    if (!algorithm->supports(call) || kernel.empty()) continue;
    if (!sums_in_network(kernel, call.layout->host_count())) names.emplace_back(algorithm->name());
  }
  return names;
}

}  // namespace ringwright::collectives
