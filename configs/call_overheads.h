// What NCCL's kernels take longer for a call than its messages on idle wires: launches, flags, slots, copies.
//
// Both are played for one group, or for the two ends of a message, alone on the run's own network: in steps, as the run
// plays them, and in chunks, as kernels do. A run that plays steps and begins each call so much later takes, while
// nobody else sends, exactly what the kernels take, for a small part of the events.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "collectives/nccl/graph_cache.h"
#include "core/plan/collective_plan.h"
#include "core/plan/step_costs.h"
#include "core/plan/task_graph.h"
#include "core/ports/call_overhead.h"
#include "core/ports/collective_algorithm.h"
#include "core/ports/collective_time.h"
#include "core/run/chunk_player.h"
#include "network_models/builtin.h"

namespace ringwright::configs {

// What calls were found to cost on one machine, by everything that it depends on there. For many steps on one machine,
// by threads at the same time.
class KnownOverheads {
 public:
  // Kind, bytes, algorithm of steps or formulas, hosts and GPUs of the members, network model.
  using Key =
      std::tuple<CollectiveKind, std::int64_t, std::string, std::vector<int>, std::vector<int>, std::string_view>;
  // Bytes, channels, chunk and protocol of the kernels, the ways between the ends, network model.
  using MessageKey =
      std::tuple<std::int64_t, int, std::int64_t, Protocol, bool, std::vector<std::int64_t>, std::string_view>;
  [[nodiscard]] std::optional<Duration> find(const Key& key) const;
  [[nodiscard]] std::optional<Duration> find(const MessageKey& key) const;
  void add(const Key& key, Duration overhead);
  void add(const MessageKey& key, Duration overhead);
  [[nodiscard]] std::size_t size() const;  // of both
  // The channels that NCCL finds on the machine's hosts.
  [[nodiscard]] collectives::NcclGraphCache& graphs() { return graphs_; }

 private:
  collectives::NcclGraphCache graphs_;
  mutable std::mutex mutex_;
  std::map<Key, Duration> known_;
  std::map<MessageKey, Duration> known_messages_;
};

class CallOverheads final : public CallOverhead {
 public:
  // References outlive this.
  struct Inputs {
    const network_models::Network& network;
    const network_models::ModelEntry& model;
    int per_host = 1;  // GPUs
    const CollectiveChooser& steps;
    const CollectiveTime* formula = nullptr;  // where calls are formulas; null: they are played in steps
    StepCosts step_costs;
    ChannelInputs channels;
    KnownOverheads& known;
  };
  explicit CallOverheads(const Inputs& inputs) : inputs_(inputs) {}

  // Nothing where steps, or the formula, take longer than kernels, or where no kernel plays the algorithm.
  [[nodiscard]] Duration of(const CollectiveCall& call) const override;
  [[nodiscard]] Duration of(const MessageBetween& message) const override;

 private:
  [[nodiscard]] Duration alone(const CollectiveCall& call, const TaskGraph& graph, bool as_kernels) const;
  // Null for `kernels`: as one flow.
  [[nodiscard]] Duration alone(const TaskGraph& graph, const Router& router, const ChannelChooser* kernels) const;

  Inputs inputs_;
  [[nodiscard]] KnownOverheads::Key key_of(const CollectiveCall& call) const;
  mutable std::deque<TaskGraph> graphs_;  // all of them: choosers know a layout by its address
};

// What a formula says, and what kernels take beside it. References must outlive it.
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
