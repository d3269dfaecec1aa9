#include "collectives/nccl/tuner.h"

#include <array>
#include <span>

#include "collectives/builtin.h"
#include "core/base/check.h"

namespace ringwright::collectives {
namespace {

// Beyond this many peers, sends to all at once are played one peer at a time, so that the flows in flight stay few.
constexpr int kDirectUpTo = 256;

constexpr std::array<std::string_view, 2> kRings = {"rail_rings", "ring"};
constexpr std::array<std::string_view, 3> kTrees = {"double_tree", "recursive_multiplying", "ring"};
constexpr std::array<std::string_view, 2> kInSwitch = {"in_switch", "ring"};
constexpr std::array<std::string_view, 3> kTreesOfSwitches = {"nvls_tree", "double_tree", "ring"};
constexpr std::array<std::string_view, 4> kInNetwork = {"collnet_direct", "in_switch", "hierarchical", "ring"};
constexpr std::array<std::string_view, 4> kChainsInNetwork = {"collnet_chain", "in_switch", "hierarchical", "ring"};
constexpr std::array<std::string_view, 2> kLogarithmic = {"halving_doubling", "ring"};
constexpr std::array<std::string_view, 2> kAllAtOnce = {"direct", "pairwise"};
constexpr std::array<std::string_view, 2> kOneByOne = {"pairwise", "direct"};

// Nearest first; the first that can play the call is taken.
std::span<const std::string_view> candidates(const CollectivePlan& plan, const CollectiveCall& call) {
  if (plan.algorithm == "tree") return kTrees;
  if (plan.algorithm == "nvls" && call.layout->host_count() == 1) return kInSwitch;
  if (plan.algorithm == "nvls" || plan.algorithm == "nvls_tree") return kTreesOfSwitches;
  if (plan.algorithm == "collnet_direct") return kInNetwork;
  if (plan.algorithm == "collnet_chain") return kChainsInNetwork;
  if (plan.algorithm == "pat") return kLogarithmic;
  if (plan.algorithm == "p2p" && call.size() <= kDirectUpTo) return kAllAtOnce;
  if (plan.algorithm == "p2p") return kOneByOne;
  const bool rails = call.layout->host_count() > 1 && call.layout->largest_host > 1;
  return std::span<const std::string_view>(kRings).subspan(rails ? 0 : 1);
}

}  // namespace

CollectivePlan NcclTuner::plan(const CollectiveCall& call) const {
  const Asked asked{.layout = call.layout, .kind = call.kind, .bytes = call.bytes.count()};
  const std::scoped_lock lock(mutex_);
  const auto known = answers_.find(asked);
  if (known != answers_.end()) return known->second;
  return answers_.emplace(asked, selector_.plan(call)).first->second;
}

const CollectiveAlgorithm& nearest_in_steps(const CollectivePlan& plan, const CollectiveCall& call) {
  for (const std::string_view name : candidates(plan, call)) {
    const CollectiveAlgorithm* algorithm = find_algorithm(name);
    CHECK(algorithm != nullptr, name);
    if (algorithm->supports(call)) return *algorithm;
  }
  const CollectiveAlgorithm* ring = find_algorithm("ring");
  CHECK(ring != nullptr && ring->supports(call), "a ring plays what nothing else does");
  return *ring;
}

}  // namespace ringwright::collectives
