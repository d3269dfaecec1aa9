// The open rings whose messages are computed at once (path_ring.h), and the links that they claim.
//
// A link of the path to a member belongs to one ring from its opening until the member has received its last message,
// or until another ring needs it and no message of the first one will enter it any more.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ports/message_network.h"
#include "network_models/astra/path_ring.h"

namespace ringwright::network_models {

// While members are missing, what passes makes the messages of those that have entered be computed again, up to one of
// each to each of them.
inline constexpr std::uint32_t kMostRingMembers = 64;
inline constexpr std::uint32_t kMostRingLinks = 2 * kMostRingMembers;

class OpenRings {
 public:
  [[nodiscard]] std::uint32_t open(const MessageRing& shape, const MessageTimes& times) {
    std::uint32_t index = static_cast<std::uint32_t>(open_.size());
    if (free_.empty()) {
      open_.emplace_back();
    } else {
      index = free_.back();
      free_.pop_back();
    }
    open_[index].left = static_cast<std::uint32_t>(shape.members.size());
    open_[index].ring.open(shape, times);
    return index;
  }
  // A member has received its last message.
  void leave(std::uint32_t index) {
    if (--open_[index].left == 0) free_.push_back(index);
  }
  [[nodiscard]] PathRing& ring(std::uint32_t index) { return open_[index].ring; }

  // A ring, and one of its links or members.
  struct Part {
    std::uint32_t ring = 0;
    std::uint32_t place = 0;
  };
  [[nodiscard]] static std::uint32_t number(const Part& part) { return part.ring * kMostRingLinks + part.place; }
  [[nodiscard]] static Part part(std::uint32_t number) {
    return {.ring = number / kMostRingLinks, .place = number % kMostRingLinks};
  }

  // When a message that enters a claimed link starts there.
  [[nodiscard]] Tick pass(const Part& link, const PathRing::Foreign& foreign) {
    PathRing& ring = open_[link.ring].ring;
    const Tick start = ring.pass(link.place, foreign);
    met_tie_ = met_tie_ || ring.met_tie();
    return start;
  }
  // Two other messages entered a link at the same tick, by events that were scheduled at the same tick. Their order may
  // follow from that of the members of a ring that was done earlier, which is not known.
  void meet_tie() { met_tie_ = met_tie_ || !open_.empty(); }
  [[nodiscard]] bool met_tie() const { return met_tie_; }

 private:
  struct Open {
    std::uint32_t left = 0;  // members
    PathRing ring;
  };

  std::vector<Open> open_;
  std::vector<std::uint32_t> free_;
  bool met_tie_ = false;
};

}  // namespace ringwright::network_models
