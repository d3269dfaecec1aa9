#include "collectives/nccl/tuner.h"

#include <array>
#include <span>

#include "collectives/builtin.h"
#include "collectives/shapes/channel_ring.h"
#include "core/base/check.h"

namespace ringwright::collectives {
namespace {

// Beyond this many peers, concurrent sends to all are simulated part by part, which limits the flows in flight.
constexpr int kDirectStepsUpTo = 256;

constexpr std::array<std::string_view, 1> kRings = {"ring"};
constexpr std::array<std::string_view, 2> kInSwitch = {"in_switch", "ring"};
constexpr std::array<std::string_view, 3> kTreesOfSwitches = {"nvls_tree", "double_tree", "ring"};
constexpr std::array<std::string_view, 4> kInNetwork = {"collnet_direct", "in_switch", "hierarchical", "ring"};
constexpr std::array<std::string_view, 4> kChainsInNetwork = {"collnet_chain", "in_switch", "hierarchical", "ring"};
constexpr std::array<std::string_view, 2> kLogarithmic = {"halving_doubling", "ring"};
constexpr std::array<std::string_view, 2> kAllPairs = {"all_pairs", "ring"};
constexpr std::array<std::string_view, 2> kAllAtOnce = {"direct", "scattered"};
constexpr std::array<std::string_view, 2> kPartByPart = {"scattered", "direct"};

// Nearest first; the first that supports the call is used.
std::span<const std::string_view> candidates(const CollectivePlan& plan, const CollectiveCall& call) {
  if (plan.algorithm == "nvls" && call.layout->host_count() == 1) return kInSwitch;
  if (plan.algorithm == "nvls" || plan.algorithm == "nvls_tree") return kTreesOfSwitches;
  if (plan.algorithm == "collnet_direct") return kInNetwork;
  if (plan.algorithm == "collnet_chain") return kChainsInNetwork;
  if (plan.algorithm == "pat") return kLogarithmic;
  if (plan.algorithm == "all_pairs") return kAllPairs;
  if (plan.algorithm == "p2p" && call.size() <= kDirectStepsUpTo) return kAllAtOnce;
  if (plan.algorithm == "p2p") return kPartByPart;
  return kRings;
}

// Small calls get few channels, but their time is kernel latency rather than link time: steps simulate them with the
// algorithm that is the same for all members, which folds.
constexpr Bytes kLittle = Bytes(1 << 20);
constexpr Bytes kTiny = Bytes(32 << 10);

// Its NICs are not the members' own.
bool spreads_nics(const CollectivePlan& plan, const CollectiveCall& call) {
  return plan.spreads_nics && call.bytes > kLittle;
}

// Every order begins at a different GPU, and each GPU begins one.
bool uses_every_rail(const CollectivePlan& plan, const CollectiveCall& call) {
  const GroupLayout& layout = *call.layout;
  const bool all = call.bytes <= kLittle || plan.channels >= layout.largest_host;
  return !plan.ordered && layout.even() && layout.nic_set.empty() && all && !spreads_nics(plan, call);
}

const CollectiveAlgorithm& rings_in_steps(const CollectivePlan& plan, const CollectiveCall& call,
                                          LibraryAlgorithms& library) {
  const GroupLayout& layout = *call.layout;
  const CollectiveAlgorithm& ring = *find_algorithm("ring");
  const CollectiveAlgorithm& rails = *find_algorithm("rail_rings");
  const bool one_each = layout.largest_host == 1 && !spreads_nics(plan, call);
  const bool one_order = !plan.ordered && (layout.host_count() == 1 || one_each);
  if (one_order || (layout.host_count() == 1 && call.bytes <= kTiny)) return ring;
  const bool on_rails = uses_every_rail(plan, call) && rails.supports(call);
  return library.streamed(on_rails ? rails : library.rings(plan, layout), call);
}

// On one host a tree is a chain, up and down; in an NVSwitch a ring sends about as much over the same links.
const CollectiveAlgorithm& trees_in_steps(const CollectivePlan& plan, const CollectiveCall& call,
                                          LibraryAlgorithms& library) {
  const GroupLayout& layout = *call.layout;
  const bool one_host = layout.host_count() == 1;
  if (one_host && (!plan.ordered || call.bytes <= kTiny)) return *find_algorithm("ring");
  if (call.bytes <= kTiny) return *find_algorithm("recursive_multiplying");
  const bool one_each = layout.largest_host == 1 && !spreads_nics(plan, call);
  const bool rails = one_each || uses_every_rail(plan, call);
  return rails ? *find_algorithm("double_tree") : library.trees(plan, layout);
}

}  // namespace

CollectivePlan NcclTuner::plan(const CollectiveCall& call) const {
  const Asked asked{.layout = call.layout, .kind = call.kind, .bytes = call.bytes.count()};
  const std::scoped_lock lock(mutex_);
  const auto known = answers_.find(asked);
  if (known != answers_.end()) return known->second;
  return answers_.emplace(asked, selector_.plan(call)).first->second;
}

CollectivePlan NcclTuner::plan(const CollectiveCall& call, NcclAlgorithm algorithm) const {
  const Asked asked{.layout = call.layout, .kind = call.kind, .bytes = call.bytes.count(), .algorithm = algorithm};
  const std::scoped_lock lock(mutex_);
  const auto known = answers_.find(asked);
  if (known != answers_.end()) return known->second;
  return answers_.emplace(asked, selector_.plan_with(call, algorithm)).first->second;
}

const CollectiveAlgorithm& nearest_in_steps(const CollectivePlan& plan, const CollectiveCall& call,
                                            LibraryAlgorithms& library) {
  const bool all_at_once = call.kind == CollectiveKind::kAllToAll;
  if (plan.algorithm == "ring" && !all_at_once) return rings_in_steps(plan, call, library);
  if (plan.algorithm == "tree" && call.kind == CollectiveKind::kAllReduce) return trees_in_steps(plan, call, library);
  for (const std::string_view name : candidates(plan, call)) {
    const CollectiveAlgorithm* algorithm = find_algorithm(name);
    CHECK(algorithm != nullptr, name);
    if (algorithm->supports(call)) return *algorithm;
  }
  const CollectiveAlgorithm* ring = find_algorithm("ring");
  CHECK(ring != nullptr && ring->supports(call), "a ring supports every remaining call");
  return *ring;
}

std::string_view kernel_of(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
  struct Row {
    std::string_view steps;
    std::string_view kernel;
  };
  constexpr std::array kRows = {
      Row{"ring", "ring"},
      Row{"rail_rings", "ring"},
      Row{"rings", "ring"},
      Row{"double_tree", "tree"},
      Row{"trees", "tree"},
      Row{"nvls_tree", "nvls_tree"},
      Row{"collnet_direct", "collnet_direct"},
      Row{"collnet_chain", "collnet_chain"},
      Row{"direct", "p2p"},
      Row{"pairwise", "p2p"},
      Row{"scattered", "p2p"},
  };
  const bool pairs = call.kind == CollectiveKind::kAllToAll;
  if (algorithm.name() == "in_switch") return call.layout->host_count() == 1 ? "nvls" : "collnet_chain";
  for (const Row& row : kRows) {
    if (row.steps != algorithm.name() || pairs != (row.kernel == "p2p")) continue;
    return row.kernel == "tree" && call.kind != CollectiveKind::kAllReduce ? "" : row.kernel;
  }
  return "";
}

}  // namespace ringwright::collectives
