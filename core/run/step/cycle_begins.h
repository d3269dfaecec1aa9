// When each class began its present cycle of the loop of its program, and how many of its tasks had ended by then.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/run/shortcuts/steady_state_watch.h"
#include "core/run/step/task_streams.h"

namespace ringwright {

class CycleBegins {
 public:
  explicit CycleBegins(const TaskStreams& streams) : streams_(streams), rows_(streams.classes()) {}

  void begin_iteration(ClassId c) { rows_[c.index()].next = streams_.program_of(c).loop.first; }
  // The class has begun a task of its compute stream; true: as the first of a cycle.
  bool note(ClassId c, std::uint32_t task, TimePoint now) {
    Row& row = rows_[c.index()];
    if (task < row.next) return false;
    const Program& program = streams_.program_of(c);
    const Loop& loop = program.loop;
    if (task >= loop.end()) return false;
    const std::uint32_t first = loop.first + (task - loop.first) / loop.size * loop.size;
    const auto done = static_cast<std::uint32_t>(program.tasks.size()) - streams_.of(c).unfinished;
    row = {.next = first + loop.size, .done_beyond = done - first, .began = now};
    return true;
  }
  // Adds it to the positions of all classes.
  void complete(std::vector<SteadyStateWatch::Position>& places, TimePoint now) const {
    for (std::size_t c = 0; c < places.size(); ++c) {
      places[c].since_begin = now - rows_[c].began;
      places[c].done_beyond = rows_[c].done_beyond;
    }
  }

 private:
  struct Row {
    std::uint32_t next = 0;         // the task that begins the next cycle
    std::uint32_t done_beyond = 0;  // ended tasks less those before the cycle, modulo 2^32
    TimePoint began;
  };

  const TaskStreams& streams_;
  std::vector<Row> rows_;  // by class
};

}  // namespace ringwright
