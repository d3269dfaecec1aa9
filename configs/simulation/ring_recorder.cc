#include "configs/simulation/ring_recorder.h"

namespace ringwright::configs {

std::optional<std::uint32_t> RingRecorder::open_ring(std::uint32_t edges) {
  const std::optional<std::uint32_t> number = network_.open_ring(edges);
  if (!number) return number;
  open_[*number] = rings_.size();
  rings_.emplace_back(edges);
  return number;
}

void RingRecorder::start_edge(RingPlace place, const RingEdge& edge, TransferListener& listener) {
  rings_[open_[place.ring]][place.edge] = {.from = edge.from,
                                           .to = edge.to,
                                           .label = edge.label,
                                           .sizes = {edge.sizes.begin(), edge.sizes.end()},
                                           .first = edge.first,
                                           .repeats = edge.repeats,
                                           .begins = engine_.now()};
  network_.start_edge(place, edge, listener);
}

}  // namespace ringwright::configs
