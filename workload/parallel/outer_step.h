// The exchange of workers that train on their own (local SGD, DiLoCo), at the end of a step that has one.
//
// A rank holds P parameters that it updates, and a fragment is P / F of them. Nesterov: the outer gradient is the outer
// weights minus the weights; it is all-reduced over the workers, and the outer weights with their momentum are updated
// and copied to the weights (DiLoCo, arXiv 2311.08105, algorithm 1). Average: the weights are all-reduced. Per rank and
// step on average P e / H bytes for e bytes a value and an exchange every H steps, whatever F is. Overlapped, the
// exchange of a step's result runs during the next one (Streaming DiLoCo, arXiv 2501.18512, section 2.3).
#pragma once

#include <cstdint>
#include <optional>

#include "workload/options/local_sgd_options.h"
#include "workload/parallel/sections.h"
#include "workload/program/program_writer.h"

namespace ringwright::workload {

class OuterStep {
 public:
  // `elements`: that the rank updates. No stream: there is one worker.
  OuterStep(SectionTable& sections, std::int64_t elements, std::optional<CommStream> workers);

  // Before the first pass, and after the inner optimizer's update.
  void begin_step(ProgramWriter& writer);
  void end_step(ProgramWriter& writer);

 private:
  [[nodiscard]] bool meets() const { return channel_ && options_.meets; }
  [[nodiscard]] TaskIndex exchange(ProgramWriter& writer) const;

  LocalSgd options_;
  std::optional<CommStream> channel_;
  Bytes bytes_;
  SectionId gradient_ = 0;
  SectionId update_ = 0;
  std::optional<TaskIndex> exchanged_;
};

}  // namespace ringwright::workload
