// The circles that NCCL's rings take: host by host, each host entered at another GPU by each kind of channel.
#pragma once

#include "core/plan/collective_call.h"
#include "core/plan/collective_plan.h"

namespace ringwright::collectives {

// The orders of one group; kind k of `kinds` enters a host at place k * size / kinds, so that rings leave and enter
// hosts beside all NICs alike.
class ChannelRing {
 public:
  struct Kind {
    int number = 0;
    int of = 1;
    const std::vector<int>* circle = nullptr;  // the way through a host, as in CollectivePlan; null: in order
  };
  ChannelRing(const GroupLayout& layout, Kind kind) : layout_(layout), kind_(kind) {}

  [[nodiscard]] int position_of(int member) const;
  // Any whole number, counted around the circle.
  [[nodiscard]] int member_at(int position) const;
  // Of the member through which the ring enters a host.
  [[nodiscard]] int first_position(int host) const;

 private:
  [[nodiscard]] int entry(int host) const;

  const GroupLayout& layout_;
  Kind kind_;
};

// How many orders differ: a host alone has one circle, unless the plan has several.
[[nodiscard]] int ring_kinds(const GroupLayout& layout, const CollectivePlan& plan);
// The plan's way through a host for this kind; null when it has none.
[[nodiscard]] const std::vector<int>* circle_of(const CollectivePlan& plan, int kind);

}  // namespace ringwright::collectives
