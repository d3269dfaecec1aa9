// The replicas of a stage's parameters: those of dense tensors, and those of experts, which do the same in turn.
//
// Workers that train on their own have replicas each, and meet in an outer step.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "workload/parallel/data.h"
#include "workload/parallel/outer_step.h"
#include "workload/parallel/step_streams.h"

namespace ringwright::workload {

class StageReplicas {
 public:
  StageReplicas(SectionTable& sections, const ParallelOptions& parallel, const std::vector<ModelChunk>& parts,
                const std::vector<Slot>& slots, const StepStreams& streams, HostTraffic& host);

  // As DataParallel.
  void begin_step(ProgramWriter& writer);
  void before_forward(ProgramWriter& writer, int chunk, std::size_t point);
  void after_forward(ProgramWriter& writer, int chunk, std::size_t point);
  void before_backward(ProgramWriter& writer, int chunk, std::size_t point);
  void after_backward(ProgramWriter& writer, int chunk, std::size_t point, DataParallel::Turn turn);
  [[nodiscard]] bool leaves_forward_alone(int chunk) const {
    return dense_.leaves_forward_alone(chunk) && experts_.leaves_forward_alone(chunk);
  }
  [[nodiscard]] bool leaves_backward_alone(DataParallel::Turn turn) const {
    return dense_.leaves_backward_alone(turn) && experts_.leaves_backward_alone(turn);
  }
  void finish_gradients(ProgramWriter& writer);
  void reduce_norm(ProgramWriter& writer, Bytes bytes, std::string_view what);
  void end_step(ProgramWriter& writer);
  [[nodiscard]] TileUses* tiles() { return dense_.tiles(); }
  [[nodiscard]] std::int64_t owned_elements() const { return dense_.owned_elements() + experts_.owned_elements(); }
  // The number of gradients that a rank clears; where experts are apart, without theirs.
  [[nodiscard]] std::int64_t kept_gradients() const { return dense_.kept_gradients(); }

 private:
  DataParallel dense_;
  DataParallel experts_;
  OuterStep outer_;
};

}  // namespace ringwright::workload
