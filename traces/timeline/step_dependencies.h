// What the tasks of the last step of a run waited for, with the tasks themselves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan/rank_classes.h"
#include "core/plan/segments.h"
#include "core/plan/task_graph.h"
#include "core/record/run_record.h"
#include "traces/timeline/slice_names.h"

namespace ringwright::traces {

// A task of a class in the last step.
struct ClassTask {
  ClassId rank_class;
  std::uint32_t task = kNoTask;
};

class StepDependencies {
 public:
  // Of a record with waits. `graph` is the one that was run, no cycles left out.
  StepDependencies(const RunRecord& record, const TaskGraph& graph, const RankClasses& classes)
      : record_(record), graph_(graph), classes_(classes), programs_(write_out_programs(graph)) {
    const std::vector<TimePoint>& ends = record.iteration_end;
    if (!ends.empty()) end_ = ends.back();
    if (ends.size() > 1) start_ = ends[ends.size() - 2];
  }

  [[nodiscard]] TimePoint start() const { return start_; }  // of the step: the end of the one before
  [[nodiscard]] TimePoint end() const { return end_; }
  [[nodiscard]] std::size_t classes() const { return record_.waits.size(); }
  [[nodiscard]] const std::vector<TaskWait>& waits_of(ClassId c) const { return record_.waits[c.index()]; }
  [[nodiscard]] const TaskWait& wait(const ClassTask& at) const { return waits_of(at.rank_class)[at.task]; }
  [[nodiscard]] const Task& task(const ClassTask& at) const { return program(at.rank_class).tasks[at.task]; }
  [[nodiscard]] std::string name(const ClassTask& at) const { return task_name(graph_, task(at)); }
  [[nodiscard]] RankId rank_of(ClassId c) const { return classes_.representative[c.index()]; }
  [[nodiscard]] ProgramId program_of(ClassId c) const { return graph_.program_of[rank_of(c).index()]; }
  [[nodiscard]] const std::string& role(ClassId c) const { return program(c).name; }
  // "stage 3"; for a class of the same role: "rank 12 (stage 3)".
  [[nodiscard]] std::string other(ClassId c, ClassId than) const {
    return role(c) != role(than) ? role(c) : "rank " + std::to_string(rank_of(c).value) + " (" + role(c) + ")";
  }

 private:
  [[nodiscard]] const Program& program(ClassId c) const { return programs_[program_of(c).index()]; }

  const RunRecord& record_;
  const TaskGraph& graph_;
  const RankClasses& classes_;
  std::vector<Program> programs_;
  TimePoint start_;
  TimePoint end_;
};

}  // namespace ringwright::traces
