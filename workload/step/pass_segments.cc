#include "workload/step/pass_segments.h"

namespace ringwright::workload {

const std::optional<std::uint32_t>* PassSegments::find(const Slot& slot, const ModelChunk& part,
                                                       const ProgramWriter::CallShape& shape) {
  std::vector<Known>& of_slot = known_of(slot);
  for (const Known& known : of_slot) {
    if (known.shape == shape) return &known.segment;
  }
  const auto written = written_.segments.find({{part.points, part.head}, slot.pass, shape});
  if (written == written_.segments.end()) return nullptr;
  return &of_slot.emplace_back(Known{.shape = shape, .segment = written->second}).segment;
}

std::vector<PassSegments::Known>& PassSegments::known_of(const Slot& slot) {
  constexpr std::size_t kPasses = 4;
  const std::size_t place = static_cast<std::size_t>(slot.chunk) * kPasses + static_cast<std::size_t>(slot.pass);
  if (place >= known_.size()) known_.resize(place + 1);
  return known_[place];
}

void PassSegments::add(const Slot& slot, const ModelChunk& part, const ProgramWriter::CallShape& shape,
                       std::optional<std::uint32_t> segment) {
  written_.segments.emplace(std::tuple(std::tuple(part.points, part.head), slot.pass, shape), segment);
  known_of(slot).push_back({.shape = shape, .segment = segment});
}

}  // namespace ringwright::workload
