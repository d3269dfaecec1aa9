// A ring of members on a switch that computes the times of its messages at once.
//
// Each member sends equal messages to the next one, and the next message when it has received as many as it has sent
// and handled a packet. With s(i,k) the tick at which member i sends its message k, and link and packet times in whole
// ticks:
//
//   up(i,k)    = max(s(i,k), up(i,k-1) + occupancy)       its link to the switch starts
//   entry(j,k) = up(j-1,k) + delay                        the message enters the link to member j
//   down(j,k)  = max(entry(j,k), free(j))                 that link starts, behind all that entered it before
//   s(j,k+1)   = max(down(j,k) + delay, s(j,k)) + packet(k+1)
//
// Other messages may enter the links to members meanwhile. They are passed in order of time, and only delay what enters
// later: times that lie before them stay, the others are computed again. Of entries of the same tick, the message is
// first whose first link started first: in this order TickQueue has their events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/ticks.h"
#include "network_models/astra/message_queues.h"

namespace ringwright::network_models {

class SwitchRing {
 public:
  // Packet k is handled before message k; the last message is the last packet's. They must outlive the ring.
  void open(const MessageTimes& times, std::span<const Tick> packets);
  // The next member; the link to it is free at `link_free` of what entered it before.
  void add_link(Tick link_free);
  // Now: its first packet is handled, and its link to the switch is free at `up_free`.
  void enter(std::uint32_t position, Tick now, Tick up_free);
  [[nodiscard]] bool is_complete() const { return entered_ == size(); }
  // All have entered.
  void compute() { run(-1); }

  struct Foreign {
    Tick entry = 0;  // into the link to a member, not before that of the one passed before
    Tick sent = 0;   // its first link started
    Tick occupancy = 0;
    Tick start = 0;  // the link to the member starts: the result
  };
  // When a foreign message starts on the link to a member.
  [[nodiscard]] Tick pass(std::uint32_t position, const Foreign& foreign);

  // As far as is known, and not earlier: when it is decided that a member receives its last message at received().
  [[nodiscard]] Tick decided(std::uint32_t position) const { return decided_[position]; }
  [[nodiscard]] Tick received(std::uint32_t position) const { return received_[position]; }
  [[nodiscard]] Tick up_free(std::uint32_t position) const { return rows_.up_free[position]; }
  [[nodiscard]] Tick down_free(std::uint32_t position) const { return rows_.down_free[position]; }
  // Two messages entered a link at the same tick and were sent at the same tick: their order is not known here.
  [[nodiscard]] bool met_tie() const { return met_tie_; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(received_.size()); }
  [[nodiscard]] std::size_t messages() const { return packets_.size(); }

 private:
  // The state before message `next` of every member.
  struct Rows {
    std::size_t next = 0;
    std::vector<Tick> sent = {};  // s(i,next)
    std::vector<Tick> up_free = {};
    std::vector<Tick> down_free = {};
    std::vector<std::uint32_t> foreign_done = {};  // of each link
  };

  // `settled`: nothing foreign enters a link before this tick that is not known yet.
  void run(Tick settled);
  [[nodiscard]] Tick send_row();
  void pass_before(std::uint32_t position, Tick entry);
  [[nodiscard]] bool is_first(const Foreign& foreign, Tick entry);

  MessageTimes times_;
  std::span<const Tick> packets_;
  std::uint32_t entered_ = 0;
  bool met_tie_ = false;
  Rows settled_;                               // known for good
  Rows rows_;                                  // computed on from there
  std::vector<std::vector<Foreign>> foreign_;  // by position
  std::vector<Tick> entries_;
  std::vector<Tick> decided_;
  std::vector<Tick> received_;
};

}  // namespace ringwright::network_models
