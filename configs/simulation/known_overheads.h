// Overheads of calls and messages that were found on one machine, shared by all steps that are simulated there.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
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
#include "configs/simulation/overhead_store.h"
#include "core/plan/collective_plan.h"
#include "core/plan/step_costs.h"
#include "core/plan/task_graph.h"
#include "core/ports/router.h"
#include "core/run/step/executor.h"

namespace ringwright::configs {

// kInterpolated: the kernels of a large call of many ranks are simulated for few sizes, with its own plan, and all
// calls with this plan share them. Kernels repeat loops over chunks, so that beyond some loops time is a straight line
// in the size: sizes are doubled until two doublings show it. Where none is found, two sizes around the call's own
// serve. An all-to-all that costs less than its shortest line is simulated as it is. Rings over many hosts go through
// the same steps as rings over fewer, so that with equal shares of a rank their time is a straight line in the hosts,
// too: hosts are doubled until two doublings show it, and every kind of path between neighbours of the group is among
// these (SampledHosts). tests/configs/simulation/call_overheads_test.cc bounds the error of a call's time.
// kExact: calls are simulated as they are, except rings of 1,024 ranks and more, which are a line in the hosts, too.
enum class OverheadAccuracy : std::uint8_t { kExact, kInterpolated };

// Overheads found on one machine, keyed by everything that they depend on there: every caller gets the same result, in
// any order. Shared by many steps on one machine, and by concurrent threads.
class KnownOverheads {
 public:
  explicit KnownOverheads(OverheadAccuracy accuracy = OverheadAccuracy::kExact) : accuracy_(accuracy) {}
  [[nodiscard]] OverheadAccuracy accuracy() const { return accuracy_; }
  // From now on costly ones are looked up there first, and retained there for later runs. `machine`: all that overheads
  // depend on apart from their keys (machine_of()). The store outlives this.
  void retain_in(OverheadStore* store, const std::string& machine);

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
  // What is known of the key, or what `simulate` finds, once: a thread that asks for it meanwhile waits. `simulate` may
  // ask for what is simpler (by basis: from calls to what is simulated), so that threads never wait for each other.
  template <class Simulate>
  [[nodiscard]] Duration overhead(const Key& key, const Simulate& simulate) {
    return found_once(known_, key, [&] { return stored(kOverhead, key, simulate); });
  }
  template <class Simulate>
  [[nodiscard]] Duration overhead(const MessageKey& key, const Simulate& simulate) {
    return found_once(known_messages_, key, simulate);
  }
  // The same for the whole time of a call's kernels, of which overheads are interpolated.
  template <class Simulate>
  [[nodiscard]] Duration kernels(const Key& key, const Simulate& simulate) {
    return found_once(known_kernels_, key, [&] { return stored(kKernels, key, simulate); });
  }
  [[nodiscard]] std::size_t size() const;  // overheads of both
  // One number for all pairs of ranks whose paths are equal (PairRouter::signature()).
  [[nodiscard]] std::uint32_t paths_between(const Router& router, RankId sender, RankId receiver);
  // Of kInterpolated: what stands for the paths of messages.
  [[nodiscard]] FarthestPairs& farthest() { return farthest_; }
  // The channels that NCCL finds on the machine's hosts.
  [[nodiscard]] collectives::NcclGraphCache& graphs() { return graphs_; }

 private:
  static constexpr std::string_view kOverhead = "overhead";
  static constexpr std::string_view kKernels = "kernels";

  // By bytes; calls have few distinct sizes. Without a time: a thread is about to find it.
  template <class KeyType>
  using Table = std::map<Bytes, std::deque<std::pair<KeyType, std::optional<Duration>>>>;

  template <class KeyType, class Simulate>
  [[nodiscard]] Duration found_once(Table<KeyType>& table, const KeyType& key, const Simulate& simulate) {
    std::unique_lock lock(mutex_);
    auto& of_size = table[key.bytes];
    const auto known = std::ranges::find(of_size, key, &std::pair<KeyType, std::optional<Duration>>::first);
    if (known != of_size.end()) {
      const std::optional<Duration>& time = known->second;  // entries do not move
      found_.wait(lock, [&time] { return time.has_value(); });
      return *time;
    }
    std::optional<Duration>& time = of_size.emplace_back(key, std::nullopt).second;
    lock.unlock();
    const Duration found = simulate();
    lock.lock();
    time = found;
    found_.notify_all();
    return found;
  }
  template <class Simulate>
  [[nodiscard]] Duration stored(std::string_view what, const Key& key, const Simulate& simulate) {
    if (store_ == nullptr || !is_costly(key)) return simulate();
    const std::string of = name_in_store(what, key);
    if (const auto time = store_->find(of)) return *time;
    const Duration time = simulate();
    store_->put(of, time);
    return time;
  }
  // Whether it takes longer to simulate than to look up.
  [[nodiscard]] static bool is_costly(const Key& key);
  [[nodiscard]] std::string name_in_store(std::string_view what, const Key& key) const;

  OverheadAccuracy accuracy_;
  OverheadStore* store_ = nullptr;
  std::string machine_;  // of the store
  collectives::NcclGraphCache graphs_;
  FarthestPairs farthest_;
  mutable std::mutex mutex_;
  std::condition_variable found_;
  Table<Key> known_;
  Table<Key> known_kernels_;
  Table<MessageKey> known_messages_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> paths_;
  std::unordered_map<std::uint64_t, std::uint32_t> paths_of_pair_;  // retained for many steps only
};

}  // namespace ringwright::configs
