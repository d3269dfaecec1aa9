// Chains through the hosts of a group: the members' positions, for each kind of channel.
//
// Each chain begins at a different GPU, so that all NICs are used, unless a plan's paths differ.
#pragma once

#include "core/plan/collective_call.h"
#include "core/plan/collective_plan.h"

namespace ringwright::collectives {

class HostChains {
 public:
  HostChains(const GroupLayout& layout, const CollectivePlan& plan, int kinds)
      : layout_(layout), plan_(plan), kinds_(kinds) {}

  struct Spot {
    int host = 0;
    int place = 0;  // 0 is the head
  };
  [[nodiscard]] int member_at(int kind, const Spot& spot) const;
  [[nodiscard]] int place_of(int kind, int member) const;

 private:
  [[nodiscard]] int first_place(int kind, int size) const { return kind * size / kinds_; }

  const GroupLayout& layout_;
  const CollectivePlan& plan_;
  int kinds_;
};

}  // namespace ringwright::collectives
