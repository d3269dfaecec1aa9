// The time breakdown of a training step: computing, exposed communication, waiting; per step, as averages over ranks.
//
// From the record's time by activity mask (which of computing and communication of each dimension is in flight):
//
//   computing          the rank computes, whatever else is in flight
//   exposed(d)         the rank does not compute, d is in flight, and no dimension with a lower number is.
//                      Dimensions are numbered from the inside out (tp first), and of several waits the innermost
//                      delays the next kernel; so every moment is counted once.
//   idle               neither: pipeline bubble, waiting for other ranks
//   data               the step is over but for the samples of the next one, which are not prepared yet
//   outer              what an exchange of workers that train on their own adds, per step
//   hidden(d)          d is in flight while the rank computes
//   in flight(d)       d is in flight at all: exposed, hidden, or behind another exposed dimension
//   lost to (d)        the extra computing time because d held multiprocessors or memory bandwidth
//   lost by (d)        the delay of data of d because kernels used memory bandwidth; included in d's time in flight
//
// computing + exposed of all dimensions + idle + data + outer = the step time; idle is the remainder of the rank's own
// record.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"
#include "core/record/run_record.h"

namespace ringwright {

struct DimensionTime {
  std::string name;  // "tp"
  bool joins_stages = false;  // as in Dimension
  Duration exposed;
  Duration hidden;
  Duration in_flight;
  Duration compute_lost_to_sms;
  Duration compute_lost_to_memory;
  Duration lost_to_compute;
  Bytes sent;        // by one rank in one step
};

struct TimeBreakdown {
  std::string of;         // "all ranks", "stage 3"
  std::size_t ranks = 0;
  Duration computing;
  std::vector<DimensionTime> dimensions;  // those that communicated at all
  Duration idle;
  Duration data;
  Duration outer;
  Duration total;
  bool contended = false;  // computing and communication slow each other, where they do

  // In [0, 1]; those of computing, exposed, idle, data and outer add up to 1.
  [[nodiscard]] double share(Duration part) const;
};

struct BreakdownInputs {
  const RunRecord& record;
  const TaskGraph& graph;
  const RankClasses& classes;
  Duration step_time;
  Duration data;   // of it, in which all ranks wait for data
  Duration outer;  // of it, added by steps in which workers meet
  int counted_iterations = 1;
};

// Over all ranks.
[[nodiscard]] TimeBreakdown break_down(const BreakdownInputs& inputs);
// Over the ranks that `takes` accepts; ranks of one class are all accepted, or none is.
[[nodiscard]] TimeBreakdown break_down_some(const BreakdownInputs& inputs, const std::function<bool(RankId)>& takes,
                                            std::string of);
// Of the programs of one name, which are those of a pipeline stage, in the order of the programs.
[[nodiscard]] std::vector<TimeBreakdown> break_down_stages(const BreakdownInputs& inputs);
// Over the ranks of the program that computes longest, the bottleneck of a pipeline; the first of equals.
[[nodiscard]] TimeBreakdown break_down_slowest(const BreakdownInputs& inputs);

}  // namespace ringwright
