// Simulates calls of segments as one event each: their timeline is known beforehand. Classes that go through a segment
// together wait for the last of them to begin; then the timelines of all are known.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "core/run/job/call_times.h"
#include "core/run/job/link_traffic.h"
#include "core/run/job/played_job.h"
#include "core/run/shortcuts/segment_times.h"
#include "core/run/step/executor.h"
#include "core/run/step/played_programs.h"

namespace ringwright {

class SegmentPlayer {
 public:
  SegmentPlayer(PlayedJob& job, CallTimes& calls, const ExecutorInputs& inputs, const PlayedPrograms& programs);

  struct Call {
    ClassId rank_class;
    std::uint32_t task = 0;
    std::uint32_t segment = 0;
    Duration host_behind;  // from now until the host begins to issue its tasks
  };
  struct Ending {
    ClassId rank_class;
    std::uint32_t task = 0;
    TimePoint at;
    bool late = false;  // a faster host would have changed it
  };
  // A call begins now. Returns the calls whose ends are known by that, valid until the next one.
  [[nodiscard]] std::span<const Ending> begin(const Call& call);
  void end(ClassId rank_class) {
    job_.ledger.end_profile(rank_class, job_.engine.now());
    in_flight_[rank_class.index()].state = State::kNone;
  }
  // A hash of the class's current call and its start.
  [[nodiscard]] std::uint64_t digest(ClassId rank_class) const;

  // The run is invalid: other transfers used links that a rehearsed collective was assumed to have to itself, or calls
  // did not end as their timelines say.
  [[nodiscard]] bool is_disturbed() const {
    return rehearsed_ && (!disturbed_.empty() || job_.network.trespassed());
  }
  // Then: the classes whose calls did, and those on whose links others were, ascending.
  [[nodiscard]] std::vector<ClassId> disturbed() const;
  // Whether calls wait for others to begin.
  [[nodiscard]] bool awaits_members() const { return awaiting_ > 0; }
  // Adds the times of collective calls in undisturbed timelines, at the end of a run.
  void add_calls(CallTimes& calls) const;
  // Adds the link traffic of calls that have begun, which the network model does not record.
  [[nodiscard]] std::vector<LinkUsage> with_usage(std::vector<LinkUsage> usage) const;

 private:
  enum class State : std::uint8_t { kNone, kAwaits, kKnown };
  struct InFlight {
    State state = State::kNone;
    bool late = false;
    std::uint32_t task = 0;
    std::uint32_t segment = 0;
    Duration host_behind;
    TimePoint begin;
    std::uint64_t others = 0;  // a hash of when the members it goes with began
  };
  struct Plays {
    const SegmentTimeline* timeline = nullptr;  // the undisturbed one
    std::uint64_t count = 0;
    std::uint64_t late = 0;  // of them, in timelines of their own
  };

  void count(ClassId rank_class, const SegmentTimeline& traffic);
  void begin_alone(const Call& call);
  void begin_with(const Call& call, std::span<const ClassId> members);
  void reserve_for_all(std::uint32_t segment, std::span<const ClassId> members);
  void end_reservation(std::span<const ClassId> members);
  [[nodiscard]] bool any_awaits(std::span<const ClassId> members) const;
  [[nodiscard]] bool all_await(std::uint32_t segment, std::span<const ClassId> members) const;
  void go_together(std::uint32_t segment, std::span<const ClassId> members);
  [[nodiscard]] std::uint64_t hash_of(std::span<const ClassId> members) const;
  [[nodiscard]] Plays& plays_of(ClassId rank_class, std::uint32_t segment) {
    return plays_[rank_class.index() * job_.graph.segments.size() + segment];
  }

  PlayedJob& job_;
  CallTimes& calls_;
  SegmentTimes times_;
  bool rehearsed_;
  std::set<ClassId> disturbed_;
  std::size_t awaiting_ = 0;         // calls
  std::vector<Plays> plays_;         // by class, by segment
  // Passes with calls as kernels run them, of several classes; by the first of these: their links.
  struct Kept {
    std::vector<LinkId> links;  // of the last pass
    TimePoint until;
  };
  std::map<ClassId, Kept> kept_;
  LinkTraffic traffic_;  // of such passes
  std::vector<InFlight> in_flight_;  // by class
  std::vector<Ending> endings_;      // answer of begin
  std::vector<PassStart> starts_;    // scratch
};

}  // namespace ringwright
