// Plays calls of segments as one event each: the course that they take is known beforehand.
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

  // A call begins now, for whose tasks the host begins to issue so long after; returns how long it takes.
  [[nodiscard]] Duration begin(ClassId rank_class, std::uint32_t segment, Duration host_behind);
  void end(ClassId rank_class) {
    job_.ledger.end_profile(rank_class, job_.engine.now());
    in_flight_[rank_class.index()].active = false;
  }
  // Whether the class's present call goes otherwise than it would with a quicker host.
  [[nodiscard]] bool is_late(ClassId rank_class) const { return in_flight_[rank_class.index()].late; }
  // Which call is under way in the class, and since when.
  [[nodiscard]] std::uint64_t digest(ClassId rank_class) const;

  // Somebody used links that a rehearsed collective was taken to have to itself: what was played means nothing.
  [[nodiscard]] bool is_disturbed() const { return rehearsed_ && (meets_others_ || job_.network.trespassed()); }
  // What calls of collectives took in undisturbed courses, for the end of a run.
  void add_calls(CallTimes& calls) const;
  // With what links carried in calls that have begun, of which the network model does not know.
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
    std::uint64_t late = 0;  // of them, in courses of their own
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
