// The circles that NCCL's rings take: host by host, each host entered at another GPU by each kind of channel.
#pragma once

#include "core/plan/collective_call.h"
#include "core/plan/collective_plan.h"
#include "core/ports/router.h"

namespace ringwright::collectives {

// The orders of one group; kind k of `kinds` enters a host at place k * size / kinds, so that rings enter hosts beside
// all NICs alike, or as the plan's paths say.
class ChannelRing {
 public:
  struct Kind {
    int number = 0;
    int of = 1;
    const CollectivePlan* plan = nullptr;  // null: one without paths
  };
  ChannelRing(const GroupLayout& layout, Kind kind) : layout_(layout), kind_(kind) {}

  [[nodiscard]] int position_of(int member) const;
  // Any whole number, counted around the circle.
  [[nodiscard]] int member_at(int position) const;
  // Of the member through which the ring enters a host.
  [[nodiscard]] int first_position(int host) const;

 private:
  [[nodiscard]] int entry(int host) const;
  [[nodiscard]] const HostPath* path(int host) const;

  const GroupLayout& layout_;
  Kind kind_;
};

// How many orders differ: a host alone has one circle, unless the plan has several.
[[nodiscard]] int ring_kinds(const GroupLayout& layout, const CollectivePlan& plan);
// The plan's path of channels of a kind through a host of the group; null when it has none.
[[nodiscard]] const HostPath* path_of(const CollectivePlan& plan, int kind, int host);
// The NICs of messages between two members on channels of a kind: those of the sender's and the receiver's path.
[[nodiscard]] MessageNics nics_between(const GroupLayout& layout, const CollectivePlan& plan, int kind, int from,
                                       int to);

}  // namespace ringwright::collectives
