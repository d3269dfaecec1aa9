// Simulates calls of segments as one event each: their timeline is known beforehand.
#pragma once

#include <cstdint>
#include <vector>

#include "core/run/job/call_times.h"
#include "core/run/job/played_job.h"
#include "core/run/shortcuts/segment_times.h"
#include "core/run/step/executor.h"
#include "core/run/step/played_programs.h"

namespace ringwright {

class SegmentPlayer {
 public:
  SegmentPlayer(PlayedJob& job, CallTimes& calls, const ExecutorInputs& inputs, const PlayedPrograms& programs);

  // A call begins now, whose tasks the host begins to issue this long after; returns its duration.
  [[nodiscard]] Duration begin(ClassId rank_class, std::uint32_t segment, Duration host_behind);
  void end(ClassId rank_class) {
    job_.ledger.end_profile(rank_class, job_.engine.now());
    in_flight_[rank_class.index()].active = false;
  }
  // Whether a faster host would change the class's current call.
  [[nodiscard]] bool is_late(ClassId rank_class) const { return in_flight_[rank_class.index()].late; }
  // A hash of the class's current call and its start.
  [[nodiscard]] std::uint64_t digest(ClassId rank_class) const;

  // Other transfers used links that a rehearsed collective was assumed to have to itself: the run is invalid.
  [[nodiscard]] bool is_disturbed() const { return rehearsed_ && (meets_others_ || job_.network.trespassed()); }
  // Adds the times of collective calls in undisturbed timelines, at the end of a run.
  void add_calls(CallTimes& calls) const;
  // Adds the link traffic of calls that have begun, which the network model does not record.
  [[nodiscard]] std::vector<LinkUsage> with_usage(std::vector<LinkUsage> usage) const;

 private:
  PlayedJob& job_;
  CallTimes& calls_;
  SegmentTimes times_;
  bool rehearsed_;
  bool meets_others_ = false;
  struct Plays {
    const SegmentTimeline* timeline = nullptr;  // the undisturbed one
    std::uint64_t count = 0;
    std::uint64_t late = 0;  // of them, in timelines of their own
  };
  std::vector<Plays> plays_;  // by class, by segment
  struct InFlight {
    bool active = false;
    bool late = false;
    std::uint32_t segment = 0;
    Duration host_behind;
    TimePoint begin;
  };
  std::vector<InFlight> in_flight_;  // by class
};

}  // namespace ringwright
