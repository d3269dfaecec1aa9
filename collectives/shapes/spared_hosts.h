// The hosts that an all-reduce spares because they have lost NICs, and the order in which rings pass all hosts.
//
// R2CCL's recursion for several of them (arXiv 2512.25059): with the losses X_1 > X_2 > ... of the hosts' NICs, rings
// of all hosts carry 1 - X_1 of the buffer, rings without the hosts that lost X_1 carry X_1 - X_2, those without these
// and the hosts that lost X_2 carry X_2 - X_3, and so on, so that every host is busy by what it has left. Rails must
// suit: what passes a host uses the NICs of the host before it that traffic to that host leaves idle, so no two spared
// hosts follow each other, and a complete host is first where rings of an odd number of hosts close, for that hop
// changes rails.
#pragma once

#include <vector>

#include "core/plan/collective_call.h"

namespace ringwright::collectives {

// Rings for a part of the buffer, over all hosts but those that lost at least so many NICs.
struct SparedLevel {
  std::vector<int> hosts;  // of the rings, in their order
  int nics = 0;            // the part of the buffer, in parts of one for each NIC of a host
};

class SparedHosts {
 public:
  // `layout` must outlive this, and can_spare(layout) holds.
  explicit SparedHosts(const GroupLayout& layout);

  // All hosts, in the order of the rings.
  [[nodiscard]] const std::vector<int>& order() const { return order_; }
  [[nodiscard]] const std::vector<SparedLevel>& levels() const { return levels_; }
  [[nodiscard]] int complete() const { return static_cast<int>(complete_.size()); }
  // Those with losses, from the most on.
  [[nodiscard]] const std::vector<LostNics>& spared() const { return spared_; }
  // The losses of a host; null: it is complete.
  [[nodiscard]] const LostNics* losses(int host) const;
  // The host between two that a ring passes over; null: they follow each other.
  [[nodiscard]] const LostNics* passed(int from, int to) const;
  // The first level whose rings leave the host out; as many as there are: none.
  [[nodiscard]] int first_without(int host) const;

  // --- the second stage ---
  // Complete hosts form chains; a slice of the buffer goes along one. One host's losses need one chain; several hosts
  // send to the heads of all chains at the same time.
  [[nodiscard]] int chains() const { return chains_; }
  [[nodiscard]] int chain_host(int chain, int position) const;
  // Of a complete host in a chain. Spared ones hang on its last hosts, one on each.
  [[nodiscard]] int position_in(int chain, int host) const;
  [[nodiscard]] std::vector<int> hung_on(int chain, int host) const;
  [[nodiscard]] int parent(int chain, int spared_host) const;
  // Steps until what enters a chain has arrived at the host.
  [[nodiscard]] int delay(int chain, int host) const;

 private:
  void put_in_order(const GroupLayout& layout);
  void make_levels();

  std::vector<int> order_;
  std::vector<int> place_;  // in the order, by host
  std::vector<LostNics> spared_;
  std::vector<int> complete_;     // from the one after the first spared host on
  std::vector<int> complete_at_;  // by host; -1: spared
  std::vector<SparedLevel> levels_;
  int chains_ = 1;
};

// Every host with losses has a NIC left, all have as many, and at least as many hosts are complete.
[[nodiscard]] bool can_spare(const GroupLayout& layout);

}  // namespace ringwright::collectives
