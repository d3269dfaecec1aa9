// The spans of tasks of the classes whose timelines are asked for.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/record/run_record.h"

namespace ringwright {

class SpanRecorder {
 public:
  SpanRecorder(std::size_t classes, const std::vector<ClassId>& recorded)
      : records_(classes, false), started_at_(classes) {
    for (const ClassId c : recorded) records_[c.index()] = true;
  }

  [[nodiscard]] bool records(ClassId c) const { return records_[c.index()]; }
  void begin_iteration(ClassId c, std::size_t tasks) {
    if (records(c)) started_at_[c.index()].resize(tasks);
  }
  void begin(ClassId c, std::uint32_t task, TimePoint now) {
    if (records(c)) started_at_[c.index()][task] = now;
  }
  struct End {
    std::uint32_t task = 0;
    int iteration = 0;
    TimePoint at;
  };
  void end(ClassId c, const End& end) {
    if (!records(c)) return;
    spans_.push_back({.rank_class = c,
                      .task = end.task,
                      .iteration = static_cast<std::uint32_t>(end.iteration),
                      .start = started_at_[c.index()][end.task],
                      .end = end.at});
  }
  // In the order of their ends.
  [[nodiscard]] std::vector<Span> take() { return std::move(spans_); }

 private:
  std::vector<bool> records_;                       // by class
  std::vector<std::vector<TimePoint>> started_at_;  // by class, by task; of recorded classes
  std::vector<Span> spans_;
};

}  // namespace ringwright
