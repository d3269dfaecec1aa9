// What happened in a run, in columns: how each class of ranks spent its time, when it finished, what links carried.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"

namespace ringwright {

// What a rank does at a moment, as bits: bit 0 compute, bit 1 + d communication of dimension d in flight.
using ActivityMask = std::uint32_t;
inline constexpr ActivityMask kComputing = 1;
[[nodiscard]] constexpr ActivityMask communicating(DimensionId dimension) { return ActivityMask{2} << dimension.value; }

struct Span {
  ClassId rank_class;
  std::uint32_t task = 0;  // index in the class's program
  std::uint32_t iteration = 0;
  TimePoint start;
  TimePoint end;
};

// What computing and communication of one dimension took from each other.
struct Interference {
  // Computing took longer by so much because communication held multiprocessors, or memory bandwidth.
  Duration computing_to_sms;
  Duration computing_to_memory;
  // Data that thread blocks of the rank moved were late by so much because kernels drew memory bandwidth.
  Duration communication;
};

// What calls of one collective took in one dimension, over ranks that were played and iterations. A rank that comes
// early waits for the others; the one that comes last does not, so the shortest time is the call's own.
struct CallTime {
  DimensionId dimension;
  std::uint32_t spec = 0;  // index into TaskGraph::collectives
  std::uint64_t count = 0;
  WideInteger sum = 0;  // picoseconds
  Duration shortest;
};

struct RunRecord {
  std::size_t dimension_count = 0;
  // By class, then by activity mask (2^(1 + dimensions) entries): time spent in exactly this mixture, over the
  // iterations that count (after warm-up).
  std::vector<std::vector<Duration>> time_in;
  // By class, by dimension of the communication; over the iterations that count. Empty where computing and
  // communication do not disturb each other.
  std::vector<std::vector<Interference>> interference;
  std::vector<TimePoint> finished_at;              // by class: end of its last task
  std::vector<TimePoint> iteration_end;            // by iteration: when the last rank finished it
  std::vector<std::vector<Bytes>> sent;  // by class, by dimension: bytes handed to the network, all iterations
  std::vector<Span> spans;                         // only of the classes that were asked for
  std::vector<CallTime> calls;                     // of collectives
  std::uint64_t messages = 0;                      // transfers played
};

}  // namespace ringwright
