// The orders of rail rings: one ring for each place in a host, over all hosts or some of them.
//
// Ring j traverses the hosts at even places of the order from place j upwards and those at odd ones from place j - 1
// downwards, so that every hop between hosts stays on one rail. Hosts are numbered in the order of the rings.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "collectives/shapes/ring_order.h"

namespace ringwright::collectives {

class RailOrder {
 public:
  explicit RailOrder(const CollectiveCall& call) : call_(call) {}
  // Over these hosts, in this order. Each is traversed as by rings over `all` hosts, so that rings of both kinds pass a
  // host in one direction; the hop past a host that is left out changes rails.
  RailOrder(const CollectiveCall& call, std::vector<int> hosts, const std::vector<int>& all)
      : call_(call), hosts_(std::move(hosts)) {
    number_.assign(static_cast<std::size_t>(call.layout->host_count()), -1);
    for (std::size_t i = 0; i < hosts_.size(); ++i) number_[static_cast<std::size_t>(hosts_[i])] = static_cast<int>(i);
    place_in_all_.assign(number_.size(), 0);
    for (std::size_t i = 0; i < all.size(); ++i) place_in_all_[static_cast<std::size_t>(all[i])] = static_cast<int>(i);
  }

  [[nodiscard]] int rings() const { return call_.layout->largest_host; }
  [[nodiscard]] int hosts() const {
    return hosts_.empty() ? call_.layout->host_count() : static_cast<int>(hosts_.size());
  }
  [[nodiscard]] int size() const { return hosts() * rings(); }
  [[nodiscard]] bool passes(int host) const { return number_of(host) >= 0; }

  [[nodiscard]] int position_in(int member, int ring) const {
    const int host = number_of(host_of(call_, member));
    const int place = place_of(call_, member);
    const bool up = goes_up(host_of(call_, member));
    return host * rings() + (up ? wrap(place - ring, rings()) : wrap(ring - 1 - place, rings()));
  }
  [[nodiscard]] int member_in(int position, int ring) const {
    const int around = wrap(position, size());
    const int host = around / rings();
    const int walked = around % rings();
    return on(host, goes_up(at(host)) ? wrap(ring + walked, rings()) : wrap(ring - 1 - walked, rings()));
  }
  // The one ring in which the member is the last of its host, and the one in which it is the first.
  [[nodiscard]] int leaving_ring(int member) const {
    const int place = place_of(call_, member);
    return goes_up(host_of(call_, member)) ? wrap(place + 1, rings()) : place;
  }
  [[nodiscard]] int entering_ring(int member) const {
    const int place = place_of(call_, member);
    return goes_up(host_of(call_, member)) ? place : wrap(place + 1, rings());
  }
  // Within the host: to and from which all rings but one go on.
  [[nodiscard]] int next_in_host(int member) const { return neighbour(member, 1); }
  [[nodiscard]] int previous_in_host(int member) const { return neighbour(member, -1); }
  [[nodiscard]] int next_host_peer(int member) const {
    const int ring = leaving_ring(member);
    return member_in(position_in(member, ring) + 1, ring);
  }
  [[nodiscard]] int previous_host_peer(int member) const {
    const int ring = entering_ring(member);
    return member_in(position_in(member, ring) - 1, ring);
  }

 private:
  [[nodiscard]] int number_of(int host) const {
    return number_.empty() ? host : number_[static_cast<std::size_t>(host)];
  }
  [[nodiscard]] int at(int number) const { return hosts_.empty() ? number : hosts_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] int on(int number, int place) const { return member_on(call_, at(number), place); }
  [[nodiscard]] bool goes_up(int host) const {
    return (place_in_all_.empty() ? host : place_in_all_[static_cast<std::size_t>(host)]) % 2 == 0;
  }
  [[nodiscard]] int neighbour(int member, int offset) const {
    const int host = host_of(call_, member);
    return member_on(call_, host, wrap(place_of(call_, member) + (goes_up(host) ? offset : -offset), rings()));
  }

  const CollectiveCall& call_;
  std::vector<int> hosts_;         // empty: all, by their numbers
  std::vector<int> number_;        // in the order, by host; -1: none
  std::vector<int> place_in_all_;  // by host; empty: its number
};

}  // namespace ringwright::collectives
