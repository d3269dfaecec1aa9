// Timelines of segments whose collectives have known times, from formulas or from a rehearsal: computed once from their
// tasks, instead of being simulated call by call.
//
// A segment begins when everything before it is done, and a task that waits for it waits for its last task. So if all
// members of the groups of its collectives are of one class, which do the same at the same time, nothing outside of the
// segment affects it: each task begins when its stream and its dependencies are free, and its length, its activities at
// each moment, and the bytes sent are the same in every call. Exact to the picosecond: the same sums as in a full
// simulation. Only a host that is late with issuing the segment's tasks changes its timeline, which is then computed
// for that call.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"
#include "core/ports/collective_time.h"
#include "core/ports/compute_model.h"
#include "core/record/run_record.h"
#include "core/run/job/activity_profile.h"
#include "core/run/shortcuts/rehearsed_calls.h"

namespace ringwright {

struct SegmentTimeline {
  ActivityProfile profile;
  std::vector<Bytes> sent;      // by dimension
  std::vector<CallTime> calls;  // of its collectives, each once
  Duration host_lead;           // a host that begins to issue the segment this long before it begins is never late
  // Where collectives were rehearsed: their transfers, their links, and how often each is called.
  struct Use {
    const RehearsedCall* call;
    std::uint32_t count = 0;
  };
  std::uint64_t messages = 0;
  std::vector<LinkId> links;
  std::vector<Use> uses;
  bool keeps_apart = true;  // no two of them use one link at the same time
};

// Whether a graph's segments are independent of everything else: they send no messages, their collectives are among
// ranks of one class, and no task before a call can block a stream of the segment.
[[nodiscard]] bool segments_stand_alone(const TaskGraph& graph, const RankClasses& classes);

class SegmentTimes {
 public:
  struct Inputs {
    const TaskGraph& graph;  // with independent segments
    const RankClasses& classes;
    const std::vector<Duration>& work_duration;
    const ComputeModel& compute;
    const CollectiveTime* collective_time = nullptr;  // formulas, or
    const RehearsedCalls* rehearsed = nullptr;        // times from a rehearsal
  };
  explicit SegmentTimes(const Inputs& inputs);

  // The timeline of a call whose tasks the host begins to issue this long after (negative: before) it begins. Valid
  // until the next call of the class.
  [[nodiscard]] const SegmentTimeline& of(std::uint32_t segment, ClassId rank_class, Duration host_behind);
  // Of a call whose tasks have all been issued beforehand; its address is stable.
  [[nodiscard]] const SegmentTimeline& undisturbed(std::uint32_t segment, ClassId rank_class);

 private:
  // One rehearsed collective of a timeline.
  struct RehearsedUse {
    Duration begin;
    Duration end;
    const RehearsedCall* call;
  };
  [[nodiscard]] SegmentTimeline follow(const Segment& segment, ClassId rank_class, Duration host_behind);
  static void add_uses(std::vector<RehearsedUse>& parts, SegmentTimeline& timeline);
  [[nodiscard]] const RehearsedCall& call_of(const Task& collective, ClassId rank_class);
  [[nodiscard]] Duration compute_time(const Task& task, RankId rank) const;
  // The circumstances that distinguish the timelines of one segment.
  [[nodiscard]] std::vector<std::uint64_t> circumstances(std::uint32_t segment, ClassId rank_class) const;

  // The timelines of calls in equal circumstances.
  struct Timelines {
    SegmentTimeline undisturbed;
    // When the host is late: by its delay; the same delay recurs where it waits for each message.
    std::map<Duration, SegmentTimeline> late;
  };
  [[nodiscard]] Timelines& timelines_of(std::uint32_t segment, ClassId rank_class);

  Inputs inputs_;
  std::vector<Timelines*> timelines_;  // by class, by segment; null until requested
  std::map<std::vector<std::uint64_t>, Timelines> known_;
  // Beyond kKept late timelines, by class: that of the current call.
  static constexpr std::size_t kKept = 4096;
  std::size_t kept_ = 0;
  std::vector<SegmentTimeline> scratch_;
  // Scratch of follow().
  std::vector<Duration> ends_;
  std::vector<RehearsedUse> parts_;
  std::vector<Duration> issue_time_;  // by work
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, RehearsedCall>
      formulas_;  // by spec, layout, dimension
};

}  // namespace ringwright
