// The orders of NCCL's rings: host by host, each kind of channel enters a host at a different GPU.
#pragma once

#include "core/plan/collective_call.h"
#include "core/plan/collective_plan.h"
#include "core/ports/router.h"

namespace ringwright::collectives {

// The orders of one group; kind k of `kinds` enters a host at position k * size / kinds, so that rings enter next to
// all NICs evenly, or as set by the plan's paths.
class ChannelRing {
 public:
  struct Kind {
    int number = 0;
    int of = 1;
    const CollectivePlan* plan = nullptr;  // null: one without paths
  };
  ChannelRing(const GroupLayout& layout, Kind kind) : layout_(layout), kind_(kind) {}

  [[nodiscard]] int position_of(int member) const;
  // Any whole number, modulo the ring size.
  [[nodiscard]] int member_at(int position) const;
  // Of the member through which the ring enters a host.
  [[nodiscard]] int first_position(int host) const;

 private:
  [[nodiscard]] int entry(int host) const;
  [[nodiscard]] const HostPath* path(int host) const;

  const GroupLayout& layout_;
  Kind kind_;
};

// The number of distinct orders: a single host has one ring, unless the plan has several.
[[nodiscard]] int ring_kinds(const GroupLayout& layout, const CollectivePlan& plan);
// The plan's path of channels of a kind through a host of the group; null when it has none.
[[nodiscard]] const HostPath* path_of(const CollectivePlan& plan, int kind, int host);
// The NICs of messages between two members on channels of a kind: those of the sender's and the receiver's path.
[[nodiscard]] MessageNics nics_between(const GroupLayout& layout, const CollectivePlan& plan, int kind, int from,
                                       int to);

}  // namespace ringwright::collectives
