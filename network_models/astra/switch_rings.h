// The open rings whose messages are computed at once (switch_ring.h), and the links to members that they claim.
//
// A link to a member belongs to one ring from its opening until the member has received its last message.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ports/message_network.h"
#include "network_models/astra/switch_ring.h"

namespace ringwright::network_models {

class SwitchRings {
 public:
  [[nodiscard]] std::uint32_t open(const MessageRing& shape, const MessageTimes& times) {
    std::uint32_t index = static_cast<std::uint32_t>(open_.size());
    if (free_.empty()) {
      open_.emplace_back();
    } else {
      index = free_.back();
      free_.pop_back();
    }
    open_[index].shape = shape;
    open_[index].left = static_cast<std::uint32_t>(shape.members.size());
    open_[index].ring.open(times, shape.packets);
    return index;
  }
  // A member has received its last message.
  void leave(std::uint32_t index) {
    if (--open_[index].left == 0) free_.push_back(index);
  }

  [[nodiscard]] SwitchRing& ring(std::uint32_t index) { return open_[index].ring; }
  [[nodiscard]] const MessageRing& shape(std::uint32_t index) const { return open_[index].shape; }

  // A claim names ring and position.
  [[nodiscard]] static std::uint32_t claim(std::uint32_t index, std::uint32_t position) {
    return index * kMostRingMembers + position;
  }
  // When a message that enters a claimed link starts there.
  [[nodiscard]] Tick pass(std::uint32_t claim, const SwitchRing::Foreign& foreign) {
    SwitchRing& ring = open_[claim / kMostRingMembers].ring;
    const Tick start = ring.pass(claim % kMostRingMembers, foreign);
    met_tie_ = met_tie_ || ring.met_tie();
    return start;
  }
  // Two other messages entered a link at the same tick and were sent at the same tick. Their order may follow from that
  // of the members of a ring that was done earlier, which is not known.
  void meet_tie() { met_tie_ = met_tie_ || !open_.empty(); }
  [[nodiscard]] bool met_tie() const { return met_tie_; }

 private:
  struct Open {
    MessageRing shape;
    std::uint32_t left = 0;  // members
    SwitchRing ring;
  };

  std::vector<Open> open_;
  std::vector<std::uint32_t> free_;
  bool met_tie_ = false;
};

}  // namespace ringwright::network_models
