// Follows classes of ranks through the tasks of a segment: one alone, or several that are members of the same rings.
//
// As the executor simulates: a task begins when its stream is free, its dependencies have ended, and the host has
// issued it; computing ends no earlier than it is issued. A collective among ranks of one class takes a known time. In
// one among several classes each message of a member leaves when its own last one and that of the member before have
// arrived, and takes the time that it takes alone: a recursion of maxima and sums in whole picoseconds, from the
// moments at which the members call it. A message among ranks of one class takes a known time, too, and each receives
// one when its own arrives.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"
#include "core/ports/collective_time.h"
#include "core/ports/compute_model.h"
#include "core/ports/network_model.h"
#include "core/run/shortcuts/segment_timeline.h"

namespace ringwright {

// The messages of one class that are received in the order in which they are sent.
struct SentOn {
  DimensionId dimension;
  int offset = 0;  // of the receiver, in the group
  std::uint8_t channel = 0;
  friend auto operator<=>(const SentOn&, const SentOn&) = default;
};
// Of a send, or of the receive of such a message; relative ones, in groups of so many members.
[[nodiscard]] SentOn sent_on(const Task& task, const MessageSpec& spec, std::size_t members);

struct PassInputs {
  const TaskGraph& graph;  // with independent segments
  const RankClasses& classes;
  const std::vector<Duration>& work_duration;
  const ComputeModel& compute;
  const CollectiveTime* collective_time = nullptr;  // formulas, or
  const RehearsedCalls* rehearsed = nullptr;        // times from a rehearsal
};

// A member: when it begins, relative to a moment common to all, and when its host begins to issue the tasks, relative
// to that.
struct PassStart {
  ClassId rank_class;
  Duration begin;
  Duration host_behind;
};

class PassFollower {
 public:
  explicit PassFollower(const PassInputs& inputs);

  enum class Detail { kTimes, kTraffic };  // kTraffic: links and uses as well
  // Replaces the members' timelines, in the order of `starts`. False: a member ends a collective before all have joined
  // it, and its activities are not those of the timeline.
  bool follow(const Segment& segment, std::span<const PassStart> starts, std::span<SegmentTimeline* const> timelines,
              Detail detail);

 private:
  // When messages of a channel arrive, in order; the first ones are received already.
  struct Arrivals {
    std::vector<Duration> at;
    std::size_t received = 0;
  };
  // What one rehearsed collective or message of a timeline sends, over which links from when until when.
  struct RehearsedUse {
    Duration begin;
    Duration end;
    const std::vector<UsedLink>* links = nullptr;
    Bytes sent;
    std::uint64_t messages = 0;
  };
  // A member on its path; its times are since it began.
  struct Member {
    PassStart start;
    RankId rank;
    SegmentTimeline* timeline = nullptr;
    std::vector<Duration> ends;         // by task
    std::vector<Duration> stream_free;  // by stream
    Duration issued;                    // since the host began
    Duration begin;                     // of the current task
    const RehearsedCall* call = nullptr;
    std::vector<ActivityProfile::Change> changes;
    std::vector<RehearsedUse> parts;
    std::map<SentOn, Arrivals> arrivals;  // of its messages, as many as it has sent
  };

  void set_out(const PassStart& start, std::size_t tasks, SegmentTimeline& timeline, Member& member) const;
  void begin_task(const Segment& segment, std::uint32_t number, Member& member);
  // `busy_from`: from when on a collective counts as communication.
  static void end_task(const Task& task, Duration end, Duration busy_from, Member& member);
  static void end_communication(const Task& task, Duration end, Duration busy_from, const RehearsedUse& use,
                                Member& member);
  [[nodiscard]] static RehearsedUse whole_use(Duration end, const Member& member);
  [[nodiscard]] bool end_collective(const Task& task);
  void end_message(const Task& task, Member& member) const;
  [[nodiscard]] Duration next_arrival(const Task& receive, Member& member) const;
  [[nodiscard]] SentOn channel_of(const Task& message) const;
  [[nodiscard]] bool end_ring(const Task& task, const RehearsedRing& ring);
  void move_messages(const RehearsedRing& ring);
  [[nodiscard]] bool end_lone(const Task& task, LoneCall& call);
  static void add_uses(Member& member, Detail detail);
  [[nodiscard]] const RehearsedCall& call_of(const Task& collective, ClassId rank_class);
  [[nodiscard]] Duration compute_time(const Task& task, RankId rank) const;

  PassInputs inputs_;
  std::vector<Duration> issue_time_;  // by work
  // Formulas, by spec, layout and dimension.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, RehearsedCall> formulas_;
  // Scratch.
  std::vector<Member> members_;
  std::size_t count_ = 0;                 // of them
  std::vector<std::uint32_t> member_of_;  // by class
  std::vector<Duration> arrived_;         // by edge, of the message before
  std::vector<Duration> arrives_;         // of this one
  std::vector<Duration> starts_;          // of a call's members
};

}  // namespace ringwright
