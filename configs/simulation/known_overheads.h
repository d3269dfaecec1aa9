// Overheads of calls and messages that were found on one machine, shared by all steps that are simulated there.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collectives/nccl/search/graph_cache.h"
#include "configs/simulation/farthest_pairs.h"
#include "core/plan/collective_plan.h"
#include "core/plan/step_costs.h"
#include "core/plan/task_graph.h"
#include "core/ports/router.h"
#include "core/run/step/executor.h"

namespace ringwright::configs {

// kInterpolated: the kernels of a large call of many ranks are simulated for few sizes, with its own plan, and all
// calls with this plan share them. Kernels repeat loops over chunks, so that beyond some loops time is a straight line
// in the size: sizes are doubled until two doublings show it. Where none is found, two sizes around the call's own
// serve. Rings over many hosts go through the same steps as rings over fewer, so that with equal shares of a rank their
// time is a straight line in the hosts, too: hosts are doubled until two doublings show it, and every kind of path
// between neighbours of the group is among these (SampledHosts). tests/configs/simulation/call_overheads_test.cc bounds
// the error of a call's time.
// kExact: calls are simulated as they are, except rings of 1,024 ranks and more, which are a line in the hosts, too.
enum class OverheadAccuracy : std::uint8_t { kExact, kInterpolated };

// Overheads found on one machine, keyed by everything that they depend on there: every caller gets the same result, in
// any order. Shared by many steps on one machine, and by concurrent threads.
class KnownOverheads {
 public:
  explicit KnownOverheads(OverheadAccuracy accuracy = OverheadAccuracy::kExact) : accuracy_(accuracy) {}
  [[nodiscard]] OverheadAccuracy accuracy() const { return accuracy_; }

  // What a time was found for: a call, or what calls are interpolated between: a size of it, by a line in the hosts or
  // as simulated.
  enum class Basis : std::uint8_t { kCall, kSize, kSimulated };
  // One group alone on the network's first hosts.
  struct Key {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Bytes bytes;
    int root = 0;
    std::string algorithm;     // of the steps or the formula
    StepCosts step_costs;      // of these steps
    MemberProgress progress = MemberProgress::kEach;
    CollectivePlan plan;       // of the kernels
    std::vector<int> host_of;  // of the members
    std::vector<int> gpu_of;
    std::vector<int> nic_set;  // of the hosts
    std::string_view model;    // of the network
    Basis basis = Basis::kCall;
    friend bool operator==(const Key&, const Key&) = default;
  };
  // Two ranks alone on the paths between them.
  struct MessageKey {
    Bytes bytes;
    CollectivePlan plan;              // of the kernels
    std::uint32_t paths = 0;  // paths_between()
    std::string_view model;
    friend bool operator==(const MessageKey&, const MessageKey&) = default;
  };
  [[nodiscard]] std::optional<Duration> find(const Key& key) const;
  [[nodiscard]] std::optional<Duration> find(const MessageKey& key) const;
  // The whole time of a call's kernels, of which overheads are interpolated.
  [[nodiscard]] std::optional<Duration> find_kernels(const Key& key) const;
  void add_kernels(const Key& key, Duration time);
  void add(const Key& key, Duration overhead);
  void add(const MessageKey& key, Duration overhead);
  [[nodiscard]] std::size_t size() const;  // of both
  // One number for all pairs of ranks whose paths are equal (PairRouter::signature()).
  [[nodiscard]] std::uint32_t paths_between(const Router& router, RankId sender, RankId receiver);
  // Of kInterpolated: what stands for the paths of messages.
  [[nodiscard]] FarthestPairs& farthest() { return farthest_; }
  // The channels that NCCL finds on the machine's hosts.
  [[nodiscard]] collectives::NcclGraphCache& graphs() { return graphs_; }

 private:
  // By bytes; calls have few distinct sizes.
  template <class KeyType>
  using Table = std::map<Bytes, std::vector<std::pair<KeyType, Duration>>>;

  OverheadAccuracy accuracy_;
  collectives::NcclGraphCache graphs_;
  FarthestPairs farthest_;
  mutable std::mutex mutex_;
  Table<Key> known_;
  Table<Key> known_kernels_;
  Table<MessageKey> known_messages_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> paths_;
  std::unordered_map<std::uint64_t, std::uint32_t> paths_of_pair_;  // retained for many steps only
};

}  // namespace ringwright::configs
