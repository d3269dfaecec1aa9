#include "configs/simulation/ring_recorder.h"

namespace ringwright::configs {

std::optional<std::uint32_t> RingRecorder::open_ring(std::uint32_t lanes) {
  const std::optional<std::uint32_t> number = network_.open_ring(lanes);
  if (!number) return number;
  open_[*number] = rings_.size();
  rings_.emplace_back(lanes);
  return number;
}

void RingRecorder::start_lane(RingPlace place, const RingLane& lane, TransferListener& listener) {
  rings_[open_[place.ring]][place.lane] = {.from = lane.from,
                                           .to = lane.to,
                                           .label = lane.label,
                                           .sizes = {lane.sizes.begin(), lane.sizes.end()},
                                           .first = lane.first,
                                           .repeats = lane.repeats,
                                           .begins = engine_.now()};
  network_.start_lane(place, lane, listener);
}

}  // namespace ringwright::configs
