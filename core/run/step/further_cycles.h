// Takes cycles that the graph leaves out into a run that goes on: those of its loops have not repeated yet, so the
// programs of all classes get further ones behind the last.
//
// Exact: as long as no class has touched its last cycle or anything behind it, a run of the longer programs would have
// come to the same state. Receives without dependencies are the exception, since they begin with the step; those of the
// new cycles begin now, as if they had then, and those behind are renumbered. Otherwise nothing is done: in a later
// iteration, where such a receive could have met its message, or where its host began to issue it later. Under
// contention, where a receive takes its data from the moment on at which its host issues it, all of the longer program
// would have to be issued by now.
#pragma once

#include <cstdint>
#include <vector>

#include "core/run/step/executor.h"
#include "core/run/step/program_index.h"
#include "core/run/step/run_state.h"

namespace ringwright {

class FurtherCycles {
 public:
  // All outlive it. `options` as those of the run.
  FurtherCycles(RunState& run, const ExecutorInputs& inputs, const ExecutorOptions& options);

  // Whether the class, with this task, begins one of its last two cycles, or has.
  [[nodiscard]] bool nears_end(ClassId c, std::uint32_t task) const { return task >= near_end_[c.index()]; }
  // A good number to insert at a time.
  [[nodiscard]] std::uint32_t suggested() const;
  // At the end of an instant. False: it cannot be done, and will not be.
  [[nodiscard]] bool insert(std::uint32_t cycles);
  // So far.
  [[nodiscard]] std::uint32_t inserted() const { return inserted_; }

 private:
  struct Longer {
    std::vector<Program> programs;
    std::vector<ProgramIndex> indices;
  };
  [[nodiscard]] Longer lengthen(std::uint32_t cycles) const;
  [[nodiscard]] bool may_insert(const Longer& longer, std::uint32_t cycles) const;
  [[nodiscard]] bool is_untouched(ClassId c) const;
  [[nodiscard]] bool would_be_posted(ClassId c, std::uint32_t cycles) const;
  [[nodiscard]] bool met_none(ClassId c, const Longer& longer) const;
  void put_in(Longer longer, std::uint32_t cycles);
  void renumber_receives(ClassId c, std::uint32_t end, std::uint32_t tasks);
  void begin_receives(ClassId c, std::uint32_t end, std::uint32_t tasks);
  void look_for_ends();
  [[nodiscard]] std::size_t program_of(ClassId c) const {
    return inputs_.graph.program_of[inputs_.classes.representative[c.index()].index()].index();
  }
  [[nodiscard]] TimePoint receive_issued(ClassId c, std::uint32_t task) const;

  RunState& run_;
  const ExecutorInputs& inputs_;
  const ExecutorOptions& options_;
  std::vector<std::uint32_t> near_end_;  // by class: the task that begins its last cycle but one
  std::uint32_t inserted_ = 0;
};

}  // namespace ringwright
