// Who waits for whom while the members of a collective go through its steps: one ring, or several at once.
//
// A member sends one message over each of its edges in a step. It begins the next step when all of these and those of
// the edges that it awaits have arrived, as in CollectiveStep. Edges are numbered member by member.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ringwright {

class RingShape {
 public:
  struct Member {
    std::uint32_t edges = 1;
    std::vector<std::uint32_t> awaits;  // edges of other members, and perhaps its own
  };
  explicit RingShape(std::span<const Member> members);
  // One edge for each member, which awaits that of the member before.
  [[nodiscard]] static RingShape one_ring(std::uint32_t members);

  [[nodiscard]] std::uint32_t members() const { return static_cast<std::uint32_t>(first_edge_.size() - 1); }
  [[nodiscard]] std::uint32_t edges() const { return first_edge_.back(); }
  // Of a member: its edges are consecutive.
  [[nodiscard]] std::uint32_t first_edge(std::uint32_t member) const { return first_edge_[member]; }
  [[nodiscard]] std::uint32_t end_edge(std::uint32_t member) const { return first_edge_[member + 1]; }
  [[nodiscard]] std::uint32_t member_of(std::uint32_t edge) const { return waiting_for(edge).front(); }
  // The edges that end a member's step, each once: its own and those that it awaits.
  [[nodiscard]] std::span<const std::uint32_t> awaited_by(std::uint32_t member) const {
    return std::span(awaited_).subspan(first_awaited_[member], first_awaited_[member + 1] - first_awaited_[member]);
  }
  // The members whose step an edge ends: first the one that it belongs to.
  [[nodiscard]] std::span<const std::uint32_t> waiting_for(std::uint32_t edge) const {
    return std::span(waiting_).subspan(first_waiting_[edge], first_waiting_[edge + 1] - first_waiting_[edge]);
  }
  // Whether it is that of one_ring().
  [[nodiscard]] bool is_one_ring() const;

 private:
  std::vector<std::uint32_t> first_edge_;     // by member
  std::vector<std::uint32_t> first_awaited_;  // by member, into awaited_
  std::vector<std::uint32_t> awaited_;
  std::vector<std::uint32_t> first_waiting_;  // by edge, into waiting_
  std::vector<std::uint32_t> waiting_;
};

}  // namespace ringwright
