// Fewer hosts of a ring that stand for all of them.
//
// Hosts follow each other over paths of few kinds: within a leaf switch, from one leaf to the next, from one pod to the
// next; and where every other host has other paths within (NCCL's rings over its NICs), from one such host to one of
// the other sort. The hosts are one block, or several with equal paths within (those of a leaf, say). A sample has the
// first hosts of every block: with more hosts only the paths within blocks become more.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/plan/collective_call.h"

namespace ringwright::configs {

// Every host has ranks of the group on the same GPUs, in the same order, and the same NICs.
[[nodiscard]] bool is_alike_on_hosts(const GroupLayout& layout);

// The ranks on these hosts (ascending), in their order; the hosts become 0, 1, ...
[[nodiscard]] GroupLayout on_hosts(const GroupLayout& layout, const std::vector<int>& hosts);

class SampledHosts {
 public:
  // The kind of path from a host to another.
  using KindOfPath = std::function<std::uint64_t(int from, int to)>;
  SampledHosts(int hosts, KindOfPath kind);

  // So many hosts, as many of each block, with all kinds of paths where `hosts` are enough for that; none where they
  // are not, or where paths between them differ from those of all hosts.
  [[nodiscard]] std::optional<std::vector<int>> of(int hosts) const;
  // Whether so many have all kinds of paths.
  [[nodiscard]] bool are_enough(int hosts) const;

 private:
  [[nodiscard]] bool splits(int blocks) const;

  int hosts_;
  KindOfPath kind_;
  std::vector<std::uint64_t> kinds_;  // from each host to the next, the last one's to the first
  int blocks_ = 0;                    // none: there is no such sample
  int least_ = 0;                     // hosts of a block with all its kinds of paths
};

}  // namespace ringwright::configs
