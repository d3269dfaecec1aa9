#include "workload/step/pass_segments.h"

namespace ringwright::workload {

const std::optional<std::uint32_t>* PassSegments::find(const Slot& slot, const ModelChunk& part,
                                                       const ProgramWriter::CallShape& shape) {
  const auto written = written_.segments.find({{part.points, part.head}, slot.pass, shape});
  if (written == written_.segments.end()) return nullptr;
  return &known_of(slot).emplace_back(Known{.shape = shape, .segment = written->second}).segment;
}

void PassSegments::add(const Slot& slot, const ModelChunk& part, const ProgramWriter::CallShape& shape,
                       std::optional<std::uint32_t> segment) {
  written_.segments.emplace(std::tuple(std::tuple(part.points, part.head), slot.pass, shape), segment);
  known_of(slot).push_back({.shape = shape, .segment = segment});
}

}  // namespace ringwright::workload
