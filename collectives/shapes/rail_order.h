// The orders of rail rings: one ring for each place in a host, over all hosts or all but one.
//
// Ring j traverses an even host from place j upwards and an odd one from place j - 1 downwards, so that every hop
// between hosts stays on one rail. Hosts are numbered without the one that is left out.
#pragma once

#include "collectives/shapes/ring_order.h"

namespace ringwright::collectives {

class RailOrder {
 public:
  // `left_out`: a host; -1: none.
  explicit RailOrder(const CollectiveCall& call, int left_out = -1) : call_(call), left_out_(left_out) {}

  [[nodiscard]] int rings() const { return call_.layout->largest_host; }
  [[nodiscard]] int hosts() const { return call_.layout->host_count() - (left_out_ < 0 ? 0 : 1); }
  [[nodiscard]] int size() const { return hosts() * rings(); }

  [[nodiscard]] int position_in(int member, int ring) const {
    const int host = number_of(host_of(call_, member));
    const int place = place_of(call_, member);
    return host * rings() + (host % 2 == 0 ? wrap(place - ring, rings()) : wrap(ring - 1 - place, rings()));
  }
  [[nodiscard]] int member_in(int position, int ring) const {
    const int around = wrap(position, size());
    const int host = around / rings();
    const int walked = around % rings();
    return on(host, host % 2 == 0 ? wrap(ring + walked, rings()) : wrap(ring - 1 - walked, rings()));
  }
  // The one ring in which the member is the last of its host, and the one in which it is the first.
  [[nodiscard]] int leaving_ring(int member) const {
    const int place = place_of(call_, member);
    return number_of(host_of(call_, member)) % 2 == 0 ? wrap(place + 1, rings()) : place;
  }
  [[nodiscard]] int entering_ring(int member) const {
    const int place = place_of(call_, member);
    return number_of(host_of(call_, member)) % 2 == 0 ? place : wrap(place + 1, rings());
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
  [[nodiscard]] int number_of(int host) const { return left_out_ >= 0 && host > left_out_ ? host - 1 : host; }
  [[nodiscard]] int on(int number, int place) const {
    return member_on(call_, left_out_ >= 0 && number >= left_out_ ? number + 1 : number, place);
  }
  [[nodiscard]] int neighbour(int member, int offset) const {
    const int host = number_of(host_of(call_, member));
    return on(host, wrap(place_of(call_, member) + (host % 2 == 0 ? offset : -offset), rings()));
  }

  const CollectiveCall& call_;
  int left_out_;
};

}  // namespace ringwright::collectives
