// The record of a run, in columns: how each class of ranks spent its time, when it finished, what links carried.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/record/activity_times.h"

namespace ringwright {

struct Span {
  ClassId rank_class;
  std::uint32_t task = 0;  // index in the class's program
  std::uint32_t iteration = 0;
  TimePoint start;
  TimePoint end;
};

inline constexpr std::uint32_t kNoTask = ~std::uint32_t{0};

// Why a task began when it did: with its iteration, when another task of its rank had ended, when its host issued it.
enum class ReleasedBy : std::uint8_t { kIteration, kTask, kHost };

// What a task of a class waited for.
struct TaskWait {
  TimePoint start;
  TimePoint end;
  // kTask: of the tasks of its own rank that had to end before, the one that ended last. kHost: the task that the host
  // last waited for, before it issued this one among others; kNoTask: none since the iteration began.
  std::uint32_t after = kNoTask;
  // Of a communication: the task whose start its end waited for. Of a receive the send; of a collective the call of the
  // member that joined last; else itself.
  ClassId origin;
  std::uint32_t origin_task = kNoTask;
  TimePoint origin_start;
  ReleasedBy by = ReleasedBy::kIteration;
};

// What computing and communication of one dimension cost each other.
struct Interference {
  // Extra computing time because communication held multiprocessors, or memory bandwidth.
  Duration computing_to_sms;
  Duration computing_to_memory;
  // Delay of data that thread blocks of the rank moved, because kernels used memory bandwidth.
  Duration communication;
};

// Times of the calls of one collective in one dimension, over simulated ranks and iterations. A rank that joins early
// waits for the others; the last one does not, so the shortest time is the call's own.
struct CallTime {
  DimensionId dimension;
  std::uint32_t spec = 0;  // index into TaskGraph::collectives
  std::uint64_t count = 0;
  WideInteger sum = 0;  // picoseconds
  Duration shortest;
};

// The steps of one of several jobs: those from `first` on count.
struct JobRecord {
  int first = 0;
  std::vector<TimePoint> step_end;  // by step: when the job's last rank finished it
};

struct RunRecord {
  std::size_t dimension_count = 0;
  std::vector<ActivityTimes> time_in;  // by class; over the counted iterations (after warm-up)
  // By class, by dimension of the communication; over the counted iterations. Empty where computing and communication
  // do not slow each other.
  std::vector<std::vector<Interference>> interference;
  std::vector<TimePoint> finished_at;              // by class: end of its last task
  std::vector<TimePoint> iteration_end;            // by iteration: when the last rank finished it
  std::vector<std::vector<Bytes>> sent;  // by class, by dimension: bytes handed to the network, all iterations
  std::vector<Span> spans;                         // only of the requested classes
  std::vector<std::vector<TaskWait>> waits;        // by class, by task; of the last iteration, where asked for
  std::vector<CallTime> calls;                     // of collectives
  // Where there are several jobs: time_in is over the steps of each that count, and iteration_end says when the run
  // ended.
  std::vector<JobRecord> jobs;
  std::uint64_t messages = 0;                      // transfers simulated
};

}  // namespace ringwright
