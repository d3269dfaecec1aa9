// What communication uses of a GPU - multiprocessors and memory bandwidth - for the port of `interference`.
#pragma once

#include <map>
#include <tuple>

#include "configs/scenario/interference_settings.h"
#include "configs/simulation/group_wires.h"
#include "core/plan/task_graph.h"
#include "core/ports/channel_algorithm.h"
#include "core/ports/communication_footprint.h"
#include "core/ports/router.h"
#include "core/run/kernels/chunk_player.h"

namespace ringwright::configs {

// Channels by NCCL's choice for the call, with every collective model; the memory traffic of a call that saturates its
// slowest wire, or its channels.
class GpuFootprint final : public CommunicationFootprint {
 public:
  struct Inputs {
    InterferenceSettings settings;
    const TaskGraph& graph;
    const Router& router;
    const ChannelTuner& tuner;
    // Where collectives are simulated as kernels run them; null: channels are as fast as the wires.
    const ChannelInputs* channels = nullptr;
  };
  explicit GpuFootprint(const Inputs& inputs);

  [[nodiscard]] Contention of(const CollectiveCall& call) const override;
  [[nodiscard]] Contention of(const MessageSpec& message, DimensionId dimension, RankId rank) const override;

 private:
  [[nodiscard]] CollectivePlan plan(const CollectiveCall& call) const;
  [[nodiscard]] double rate_of(const CollectivePlan& plan, double wires) const;
  [[nodiscard]] double wire_rate(const CollectiveCall& call) const;
  [[nodiscard]] double bytes_per_byte(CollectiveKind kind) const;

  Inputs inputs_;
  GroupWires wires_;
  GroupLayout pair_inside_;   // two ranks of one host
  GroupLayout pair_between_;  // of two
  using Key = std::tuple<const GroupLayout*, std::uint32_t, CollectiveKind, std::int64_t>;
  mutable std::map<Key, Contention> known_;
};

}  // namespace ringwright::configs
