#include "workload/step/pass_segments.h"

namespace ringwright::workload {

const std::optional<std::uint32_t>* PassSegments::find(const Slot& slot, const ModelChunk& part,
                                                       const ProgramWriter::CallShape& shape) {
  for (const Known& known : known_) {
    if (known.chunk == slot.chunk && known.pass == slot.pass && known.shape == shape) return &known.segment;
  }
  const auto written = written_.segments.find({{part.points, part.head}, slot.pass, shape});
  if (written == written_.segments.end()) return nullptr;
  return &known_.emplace_back(Known{slot.chunk, slot.pass, shape, written->second}).segment;
}

void PassSegments::add(const Slot& slot, const ModelChunk& part, const ProgramWriter::CallShape& shape,
                       std::optional<std::uint32_t> segment) {
  written_.segments.emplace(std::tuple(std::tuple(part.points, part.head), slot.pass, shape), segment);
  known_.push_back({.chunk = slot.chunk, .pass = slot.pass, .shape = shape, .segment = segment});
}

}  // namespace ringwright::workload
