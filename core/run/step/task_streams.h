// The streams of every class of ranks: which of its tasks may begin, by the order of their stream and by what they
// depend on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"
#include "core/run/step/played_programs.h"
#include "core/run/step/program_index.h"
#include "core/run/step/progress.h"

namespace ringwright {

class TaskStreams {
 public:
  TaskStreams(const TaskGraph& graph, const RankClasses& classes, const PlayedPrograms& plan);

  [[nodiscard]] std::size_t classes() const { return progress_.size(); }
  [[nodiscard]] const Program& program_of(ClassId c) const { return *programs_[number_of_[c.index()]]; }
  [[nodiscard]] const ProgramIndex& index_of(ClassId c) const { return indices_[number_of_[c.index()]]; }
  [[nodiscard]] const Task& task(ClassId c, std::uint32_t task) const { return program_of(c).tasks[task]; }
  [[nodiscard]] Progress& of(ClassId c) { return progress_[c.index()]; }
  [[nodiscard]] const Progress& of(ClassId c) const { return progress_[c.index()]; }
  [[nodiscard]] std::span<const Progress> all() const { return progress_; }

  // Other programs, whose first tasks are the same. Their classes have the tasks that insert_tasks() gives them.
  void replace_programs(const TaskGraph& graph, const RankClasses& classes, const PlayedPrograms& plan,
                        std::vector<ProgramIndex> indices);
  // So many tasks that none has begun are before this one and those behind it, of which none has ended.
  void insert_tasks(ClassId c, std::uint32_t before, std::uint32_t count);

  // No task of the class's iteration has begun.
  void begin_iteration(ClassId c);
  // Hands the tasks that nothing precedes to `start`: the first of each stream, and those on none.
  template <class Start>
  void for_each_first(ClassId c, Start&& start) const {
    const ProgramIndex& index = index_of(c);
    for (const auto& tasks : index.stream_tasks) {
      if (!tasks.empty()) start(tasks.front());
    }
    for (const std::uint32_t task : index.streamless_roots) start(task);
  }
  // Begins the task and takes its stream; false: it began before, or has to wait for its stream or for other tasks.
  [[nodiscard]] bool take(ClassId c, std::uint32_t task) {
    const TaskProgress& progress = of(c).tasks[task];
    return progress.pending == 0 && progress.state == TaskState::kWaiting && take_stream(c, task);
  }
  // The task has ended; true: as the last of the iteration.
  [[nodiscard]] bool end(ClassId c, std::uint32_t task) {
    of(c).done(task);
    return --of(c).unfinished == 0;
  }
  // Frees the stream of an ended task and hands every task that waited for it to `start`.
  template <class Start>
  void for_each_next(ClassId c, std::uint32_t ended, Start&& start) {
    Progress& progress = of(c);
    const ProgramIndex& index = index_of(c);
    const StreamIndex stream = task(c, ended).stream;
    if (stream != kNoStream) progress.streams[stream].busy = 0;
    for (const std::uint32_t dependent : index.dependents_of(ended)) {
      --progress.tasks[dependent].pending;
      progress.touched(dependent);
      start(dependent);
    }
    if (stream == kNoStream) return;
    const auto& order = index.stream_tasks[stream];
    const std::uint32_t next = progress.streams[stream].next;
    if (next < order.size()) start(order[next]);
  }

 private:
  [[nodiscard]] bool take_stream(ClassId c, std::uint32_t task);

  std::vector<const Program*> programs_;
  std::vector<ProgramIndex> indices_;     // by program
  std::vector<std::uint32_t> number_of_;  // of a class's program; so small that it stays near
  std::vector<Progress> progress_;        // by class
};

}  // namespace ringwright
