#include "configs/simulation/ring_recorder.h"

namespace ringwright::configs {

std::optional<std::uint32_t> RingRecorder::open_ring(const RingShape& shape) {
  const std::optional<std::uint32_t> number = network_.open_ring(shape);
  if (!number) return number;
  open_.erase(*number);
  if (!shape.is_one_ring()) return number;
  open_[*number] = rings_.size();
  rings_.emplace_back(shape.members());
  return number;
}

void RingRecorder::start_member(RingPlace place, const RingMember& member, TransferListener& listener) {
  if (const auto open = open_.find(place.ring); open != open_.end()) {
    const RingEdge& edge = member.edges.front();
    rings_[open->second][place.member] = {.from = edge.from,
                                          .to = edge.to,
                                          .nics = edge.nics,
                                          .label = edge.label,
                                          .sizes = {edge.sizes.begin(), edge.sizes.end()},
                                          .first = edge.first,
                                          .repeats = member.repeats,
                                          .begins = engine_.now()};
  }
  network_.start_member(place, member, listener);
}

}  // namespace ringwright::configs
