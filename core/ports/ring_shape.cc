#include "core/ports/ring_shape.h"

#include <algorithm>

namespace ringwright {

RingShape::RingShape(std::span<const Member> members) {
  first_edge_.push_back(0);
  for (const Member& member : members) first_edge_.push_back(first_edge_.back() + member.edges);
  std::vector<std::vector<std::uint32_t>> waiting(edges());
  for (std::uint32_t m = 0; m < members.size(); ++m) {
    for (std::uint32_t edge = first_edge(m); edge < end_edge(m); ++edge) waiting[edge].push_back(m);
  }
  first_awaited_.push_back(0);
  for (std::uint32_t m = 0; m < members.size(); ++m) {
    for (std::uint32_t edge = first_edge(m); edge < end_edge(m); ++edge) awaited_.push_back(edge);
    for (const std::uint32_t edge : members[m].awaits) {
      if (std::ranges::find(waiting[edge], m) != waiting[edge].end()) continue;
      waiting[edge].push_back(m);
      awaited_.push_back(edge);
    }
    first_awaited_.push_back(static_cast<std::uint32_t>(awaited_.size()));
  }
  first_waiting_.push_back(0);
  for (const std::vector<std::uint32_t>& of_edge : waiting) {
    waiting_.insert(waiting_.end(), of_edge.begin(), of_edge.end());
    first_waiting_.push_back(static_cast<std::uint32_t>(waiting_.size()));
  }
}

RingShape RingShape::one_ring(std::uint32_t members) {
  std::vector<Member> all(members);
  for (std::uint32_t m = 0; m < members; ++m) all[m].awaits = {(m + members - 1) % members};
  return RingShape(all);
}

bool RingShape::is_one_ring() const {
  if (members() < 2) return false;
  for (std::uint32_t m = 0; m < members(); ++m) {
    const std::span<const std::uint32_t> awaited = awaited_by(m);
    const bool follows = awaited.size() == 2 && awaited.back() == (m + members() - 1) % members();
    if (end_edge(m) - first_edge(m) != 1 || !follows) return false;
  }
  return true;
}

}  // namespace ringwright
