// The extra time of NCCL's kernels per call, compared with its messages on idle wires: launches, flags, slots, copies.
//
// Both are simulated for one group, or for the two ends of a message, alone on the run's own network: in steps, as in
// the run, and in chunks, as in the kernels. A run that simulates steps and starts each call later by this overhead
// takes, while nobody else sends, exactly as long as the kernels, for a small fraction of the events.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "configs/simulation/asked_calls.h"
#include "configs/simulation/interpolated_kernels.h"
#include "configs/simulation/known_overheads.h"
#include "configs/simulation/pair_paths.h"
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
    PairPaths* pairs = nullptr;  // of this network, known from earlier steps; null: none are
    AskedCalls* asked = nullptr;  // the same of calls that are formulas
  };
  explicit CallOverheads(const Inputs& inputs);
  CallOverheads(const CallOverheads&) = delete;  // its parts refer to it
  CallOverheads& operator=(const CallOverheads&) = delete;

  // Nothing where steps, or the formula, take longer than kernels, or where no kernel implements the algorithm. Call it
  // from one thread at a time.
  [[nodiscard]] Duration of(const CollectiveCall& call) const override;
  [[nodiscard]] Duration of(const MessageBetween& message) const override;
  [[nodiscard]] std::uint64_t ends(const MessageBetween& message) const override;

 private:
  // What of a message's ends its overhead depends on: layout, ends in it where kernels depend on these, and the paths
  // between them.
  using Ends = std::tuple<const GroupLayout*, int, int, std::uint32_t>;
  // In steps, or as the kernels of `kernels`; on these hosts of the network, or on its first ones.
  [[nodiscard]] Duration alone(const CollectiveCall& call, const ChannelChooser* kernels,
                               std::vector<std::size_t> hosts = {}) const;
  [[nodiscard]] Duration kernel_time(const CollectiveCall& call, const KnownOverheads::Key& key) const;
  [[nodiscard]] Duration beyond_formula(const CollectiveCall& call) const;
  [[nodiscard]] Duration known_kernel_time(const CollectiveCall& call, const KnownOverheads::Key& key) const;
  // Null for `kernels`: as one flow.
  [[nodiscard]] Duration alone(const TaskGraph& graph, const Router& router, const ChannelChooser* kernels) const;

  [[nodiscard]] PairPaths::Pair pair_between(RankId sender, RankId receiver) const;
  [[nodiscard]] PairPaths::Pair known_pair(const MessageBetween& message) const;
  [[nodiscard]] static Ends ends_of(const MessageCall& call, const PairPaths::Pair& pair);

  // By host of a layout: the first free host of the network with the same NICs.
  [[nodiscard]] std::vector<std::size_t> hosts_like(const GroupLayout& layout) const;
  [[nodiscard]] int first_rail_like(int gpu) const;
  [[nodiscard]] int first_gpus_like(const GroupLayout& layout) const;
  [[nodiscard]] const GroupLayout& layout_to_play(const GroupLayout& layout) const;
  [[nodiscard]] KnownOverheads::Key key_of(const CollectiveCall& call) const;

  Inputs inputs_;
  mutable InterpolatedKernels interpolated_;
  mutable std::map<int, int> rail_like_;  // by GPU of a host
  mutable std::map<const GroupLayout*, const GroupLayout*> layout_to_play_;
  mutable std::deque<GroupLayout> layouts_;  // that are simulated
  mutable std::deque<TaskGraph> graphs_;     // all of them: choosers identify a layout by its address
  mutable AskedCalls asked_;  // with simulated layouts where calls are in steps; else where no earlier ones are known
  mutable std::map<std::pair<Ends, Bytes>, Duration> asked_messages_;
  mutable std::map<Ends, std::uint64_t> number_of_ends_;
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
