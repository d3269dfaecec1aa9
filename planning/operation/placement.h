// Copies of checkpoints in the memory of other hosts: who holds whose, and which losses they survive.
//
// GEMINI (Wang et al., SOSP 2023): m copies of each host's state, the own one included. Group placement: m hosts hold
// each other's state; all survive unless a whole group is lost. Where m does not divide the hosts, the last m + N mod m
// form a ring (the mixed strategy). Ring placement: host h is held by h .. h + m - 1. `jump` is Megatron-LM's
// replication jump: members of a group are so many hosts apart.
//
// Parity (REFT, arXiv 2310.12670): the hosts of a group divide their states into stripes, of which r parts are parity,
// in turn on each host as in RAID 5. All states survive while no group loses more than r hosts. Where a group's size
// does not divide the hosts, the last group is larger.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planning/operation/operation.h"

namespace ringwright::planning {

struct CopyRule {
  std::int64_t hosts = 1;
  std::int64_t copies = 2;
  Placement placement = Placement::kGroup;
  std::int64_t jump = 1;
  std::int64_t parity = 0;  // then `copies` hosts form a group
};

// The hosts that hold the state of `host`, itself first.
[[nodiscard]] std::vector<std::int64_t> holders(const CopyRule& rule, std::int64_t host);

// Whether the state of every host has a copy left after the loss of these hosts.
[[nodiscard]] bool survives(const CopyRule& rule, std::span<const std::int64_t> lost);

// The chance that group placement survives the loss of `lost` of `hosts` at once, by inclusion and exclusion over the
// groups: sum_j (-1)^j C(N/m, j) C(N - jm, k - jm) / C(N, k). `copies` divides `hosts`.
[[nodiscard]] double group_survival(std::int64_t hosts, std::int64_t copies, std::int64_t lost);

}  // namespace ringwright::planning
