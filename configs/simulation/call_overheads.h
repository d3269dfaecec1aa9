// The extra time of NCCL's kernels per call, compared with its messages on idle wires: launches, flags, slots, copies.
//
// Both are simulated for one group, or for the two ends of a message, alone on the run's own network: in steps, as in
// the run, and in chunks, as in the kernels. A run that simulates steps and starts each call later by this overhead
// takes, while nobody else sends, exactly as long as the kernels, for a small fraction of the events.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/nccl/search/graph_cache.h"
#include "core/plan/collective_plan.h"
#include "core/plan/step_costs.h"
#include "core/plan/task_graph.h"
#include "core/ports/call_overhead.h"
#include "core/ports/collective_algorithm.h"
#include "core/ports/collective_time.h"
#include "core/run/kernels/chunk_player.h"
#include "core/run/step/executor.h"
#include "network_models/builtin.h"

namespace ringwright::configs {

// kInterpolated: the kernels of a call of many ranks are simulated for two sizes around its own, with its own plan, and
// calls between the same two sizes share them. Between them the time is nearly a straight line, since kernels repeat
// loops over chunks; tests/configs/simulation/call_overheads_test.cc bounds the error of a call's time.
enum class OverheadAccuracy : std::uint8_t { kExact, kInterpolated };

// Overheads found on one machine, keyed by everything that they depend on there: every caller gets the same result, in
// any order. Shared by many steps on one machine, and by concurrent threads.
class KnownOverheads {
 public:
  explicit KnownOverheads(OverheadAccuracy accuracy = OverheadAccuracy::kExact) : accuracy_(accuracy) {}
  [[nodiscard]] OverheadAccuracy accuracy() const { return accuracy_; }

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
    friend bool operator==(const Key&, const Key&) = default;
  };
  // Two ranks alone on the paths between them.
  struct MessageKey {
    Bytes bytes;
    CollectivePlan plan;              // of the kernels
    std::vector<std::uint64_t> paths;  // PairRouter::signature()
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
  // The channels that NCCL finds on the machine's hosts.
  [[nodiscard]] collectives::NcclGraphCache& graphs() { return graphs_; }

 private:
  // By bytes; calls have few distinct sizes.
  template <class KeyType>
  using Table = std::map<Bytes, std::vector<std::pair<KeyType, Duration>>>;

  OverheadAccuracy accuracy_;
  collectives::NcclGraphCache graphs_;
  mutable std::mutex mutex_;
  Table<Key> known_;
  Table<Key> known_kernels_;
  Table<MessageKey> known_messages_;
};

// A group is simulated alone on the network's first hosts, with the layout of the call's; if it has one member per
// host, all on one rail, on the first rail whose GPUs reach each other as theirs do. So an overhead depends on the
// shape of the group and not on its actual hosts, even where routes are hashed: groups of one shape get the same one.
// Messages are simulated on their own paths, which are few.
class CallOverheads final : public CallOverhead {
 public:
  // References outlive this.
  struct Inputs {
    const network_models::Network& network;
    const network_models::ModelEntry& model;
    int per_host = 1;  // GPUs
    std::span<const int> nic_set_of_host = {};  // as in GroupLayout; empty: every host has all NICs
    const CollectiveChooser& steps;
    MemberProgress progress = MemberProgress::kEach;  // of the steps
    const CollectiveTime* formula = nullptr;  // where calls are formulas; null: they are simulated in steps
    StepCosts step_costs;
    ChannelInputs channels;
    KnownOverheads& known;
  };
  explicit CallOverheads(const Inputs& inputs) : inputs_(inputs) {}

  // Nothing where steps, or the formula, take longer than kernels, or where no kernel implements the algorithm. Call it
  // from one thread at a time.
  [[nodiscard]] Duration of(const CollectiveCall& call) const override;
  [[nodiscard]] Duration of(const MessageBetween& message) const override;

 private:
  // In steps, or as the kernels of `kernels`.
  [[nodiscard]] Duration alone(const CollectiveCall& call, const ChannelChooser* kernels) const;
  [[nodiscard]] Duration kernel_time(const CollectiveCall& call, const KnownOverheads::Key& key) const;
  [[nodiscard]] Duration known_kernel_time(const CollectiveCall& call, const KnownOverheads::Key& key) const;
  [[nodiscard]] Duration kernel_time_at(const CollectiveCall& call, KnownOverheads::Key key, Bytes bytes) const;
  // Null for `kernels`: as one flow.
  [[nodiscard]] Duration alone(const TaskGraph& graph, const Router& router, const ChannelChooser* kernels) const;

  // By host of a layout: the first free host of the network with the same NICs.
  [[nodiscard]] std::vector<std::size_t> hosts_like(const GroupLayout& layout) const;
  [[nodiscard]] int first_rail_like(int gpu) const;
  [[nodiscard]] const GroupLayout& layout_to_play(const GroupLayout& layout) const;
  [[nodiscard]] KnownOverheads::Key key_of(const CollectiveCall& call) const;

  Inputs inputs_;
  mutable std::map<int, int> rail_like_;  // by GPU of a host
  mutable std::map<const GroupLayout*, const GroupLayout*> layout_to_play_;
  mutable std::deque<GroupLayout> layouts_;  // that are simulated
  mutable std::deque<TaskGraph> graphs_;     // all of them: choosers identify a layout by its address
  // By layout (the simulated one, where calls are in steps), dimension, kind, bytes, root.
  mutable std::map<std::tuple<const GroupLayout*, DimensionId, CollectiveKind, Bytes, int>, Duration> asked_;
};

// The time of a formula plus the extra time of kernels. References must outlive it.
class TimeWithOverhead final : public CollectiveTime {
 public:
  TimeWithOverhead(const CollectiveTime& formula, const CallOverhead& overhead)
      : formula_(formula), overhead_(overhead) {}
  [[nodiscard]] Duration time(const CollectiveCall& call) const override {
    return formula_.time(call) + overhead_.of(call);
  }
  [[nodiscard]] Bytes sent(const CollectiveCall& call) const override { return formula_.sent(call); }

 private:
  const CollectiveTime& formula_;
  const CallOverhead& overhead_;
};

}  // namespace ringwright::configs
