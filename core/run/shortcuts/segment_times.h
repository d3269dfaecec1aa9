// Timelines of segments whose collectives have known times, from formulas or from a rehearsal: computed once from their
// tasks, instead of being simulated call by call.
//
// A segment begins when everything before it is done, and a task that waits for it waits for its last task. So if all
// members of the groups of its collectives are of one class, which do the same at the same time, nothing outside of the
// segment affects it: each task begins when its stream and its dependencies are free, and its length, its activities at
// each moment, and the bytes sent are the same in every call. Exact to the picosecond: the same sums as in a full
// simulation. Only a host that is late with issuing the segment's tasks changes its timeline, which is then computed
// for that call.
//
// The same holds for several classes that go through a segment together, as the members of a tensor-parallel group on
// hashed routes: if its collectives are rings among them, nothing outside affects them either. Their timelines depend
// on when each of them begins, and are computed when the last one does.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"
#include "core/run/shortcuts/pass_follower.h"
#include "core/run/shortcuts/pass_groups.h"
#include "core/run/shortcuts/segment_timeline.h"

namespace ringwright {

// Whether a graph's segments are independent of everything else: their collectives and messages are among ranks of one
// class, which receive what they send each other in the same segment, and no task before a call can block a stream of
// the segment.
[[nodiscard]] bool segments_stand_alone(const TaskGraph& graph, const RankClasses& classes);
// The same where the collectives are among several classes, which call the same segments one after another, and no
// segment sends messages.
[[nodiscard]] bool segments_stand_together(const TaskGraph& graph, const RankClasses& classes);

[[nodiscard]] bool segments_send(const TaskGraph& graph);

class SegmentTimes {
 public:
  explicit SegmentTimes(const PassInputs& inputs);

  // The timeline of a call whose tasks the host begins to issue this long after (negative: before) it begins. Valid
  // until the next call of the class.
  [[nodiscard]] const SegmentTimeline& of(std::uint32_t segment, ClassId rank_class, Duration host_behind);
  // Of a call whose tasks have all been issued beforehand; its address is stable.
  [[nodiscard]] const SegmentTimeline& undisturbed(std::uint32_t segment, ClassId rank_class) {
    return timelines_of(segment, rank_class).undisturbed;
  }
  // Whether the timelines of all calls so far are valid until the end.
  [[nodiscard]] bool keeps_all() const { return kept_ < kKept; }

  // The classes that go through the segment with this one, itself included; none where classes are alone.
  [[nodiscard]] std::span<const ClassId> members(std::uint32_t segment, ClassId rank_class) const {
    if (!groups_) return {};
    return groups_->members(segment, rank_class);
  }
  // Their calls begin like this. False: their activities are not known, since a member ends a collective before all
  // have joined it.
  [[nodiscard]] bool go_together(std::uint32_t segment, std::span<const PassStart> starts);
  // Then: that of each, until its next call.
  [[nodiscard]] const SegmentTimeline& together(ClassId rank_class) const { return *together_[rank_class.index()]; }

 private:
  // The timelines of calls in equal circumstances.
  struct Timelines {
    SegmentTimeline undisturbed;
    // When the host is late: by its delay; the same delay recurs where it waits for each message.
    std::map<Duration, SegmentTimeline> late;
  };
  [[nodiscard]] Timelines& timelines_of(std::uint32_t segment, ClassId rank_class) {
    Timelines*& timelines = timelines_[rank_class.index() * inputs_.graph.segments.size() + segment];
    if (timelines == nullptr) follow_undisturbed(segment, rank_class);
    return *timelines;
  }
  // The circumstances that distinguish the timelines of one segment.
  [[nodiscard]] std::vector<std::uint64_t> circumstances(std::uint32_t segment, ClassId rank_class) const;
  void follow_undisturbed(std::uint32_t segment, ClassId rank_class);
  [[nodiscard]] bool is_undisturbed(std::uint32_t segment, std::span<const PassStart> starts);

  PassInputs inputs_;
  PassFollower follower_;
  std::optional<PassGroups> groups_;    // where classes go together
  std::vector<Timelines*> timelines_;   // by class, by segment; null until requested
  std::map<std::vector<std::uint64_t>, Timelines> known_;
  // Beyond kKept late timelines, by class: that of the current call.
  static constexpr std::size_t kKept = 4096;
  std::size_t kept_ = 0;
  std::vector<SegmentTimeline> scratch_;
  std::vector<const SegmentTimeline*> together_;  // by class
  std::vector<SegmentTimeline*> targets_;         // scratch
};

}  // namespace ringwright
