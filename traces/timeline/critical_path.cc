#include "traces/timeline/critical_path.h"

#include <algorithm>
#include <compare>
#include <optional>
#include <tuple>

namespace ringwright::traces {
namespace {

// The slices of each rank by their end, and the members of each flow.
class SliceIndex {
 public:
  explicit SliceIndex(const Timeline& timeline) : timeline_(timeline), of_rank_(timeline.ranks.size()) {
    std::uint64_t flows = 0;
    for (std::uint32_t i = 0; i < timeline.slices.size(); ++i) {
      const TimelineSlice& slice = timeline.slices[i];
      of_rank_[rank_of(i)].push_back(i);
      flows = std::max(flows, slice.flow);
      if (slice.flow != 0) members_.push_back(i);
    }
    for (std::vector<std::uint32_t>& slices : of_rank_) std::ranges::sort(slices, {}, [&](auto i) { return order(i); });
    std::ranges::stable_sort(members_, {}, [&](auto i) { return timeline.slices[i].flow; });
  }

  [[nodiscard]] std::uint32_t rank_of(std::uint32_t slice) const {
    return timeline_.tracks[timeline_.slices[slice].track].rank;
  }
  // What ended latest on a rank until then and began before it; of several the kernel.
  [[nodiscard]] std::optional<std::uint32_t> last_before(std::uint32_t rank, TimePoint time) const {
    const std::vector<std::uint32_t>& slices = of_rank_[rank];
    auto at = std::ranges::upper_bound(slices, time, {}, [&](auto i) { return timeline_.slices[i].end; });
    while (at != slices.begin()) {
      --at;
      if (timeline_.slices[*at].start < time && timeline_.slices[*at].start < timeline_.slices[*at].end) return *at;
    }
    return std::nullopt;
  }
  // Of a communication: the member among the timeline's ranks that joined last; itself where none joined later.
  [[nodiscard]] std::uint32_t last_to_join(std::uint32_t slice) const {
    std::uint32_t last = slice;
    const std::uint64_t flow = timeline_.slices[slice].flow;
    if (flow == 0) return last;
    const auto members = std::ranges::equal_range(members_, flow, {}, [&](auto i) { return timeline_.slices[i].flow; });
    for (const std::uint32_t member : members) {
      if (timeline_.slices[member].start > timeline_.slices[last].start) last = member;
    }
    return last;
  }
  // The other end of a message; itself where it is not among the timeline's ranks.
  [[nodiscard]] std::uint32_t other_end(std::uint32_t slice) const {
    const std::uint64_t flow = timeline_.slices[slice].flow;
    if (flow == 0) return slice;
    for (const std::uint32_t member :
         std::ranges::equal_range(members_, flow, {}, [&](auto i) { return timeline_.slices[i].flow; })) {
      if (rank_of(member) != rank_of(slice)) return member;
    }
    return slice;
  }

 private:
  // Kernels behind other slices that end at the same time, so that they are found first.
  [[nodiscard]] std::tuple<TimePoint, bool, std::uint32_t> order(std::uint32_t i) const {
    return {timeline_.slices[i].end, timeline_.slices[i].kind == SliceKind::kCompute, i};
  }

  const Timeline& timeline_;
  std::vector<std::vector<std::uint32_t>> of_rank_;  // by rank
  std::vector<std::uint32_t> members_;               // slices by flow
};

PathKind path_kind(SliceKind kind) {
  switch (kind) {
    case SliceKind::kCompute: return PathKind::kCompute;
    case SliceKind::kCollective: return PathKind::kCollective;
    case SliceKind::kSend:
    case SliceKind::kReceive: return PathKind::kMessage;
  }
  return PathKind::kOther;
}

// Follows the path backwards; every part begins before it ends, so that it ends.
class PathWalk {
 public:
  explicit PathWalk(const Timeline& timeline) : timeline_(timeline), index_(timeline) {}

  std::vector<PathPart> parts() {
    const std::optional<std::uint32_t> last = last_of_all();
    if (!last) return {};
    rank_ = index_.rank_of(*last);
    now_ = timeline_.step_end;
    while (now_ > timeline_.step_start) step_back();
    std::ranges::reverse(parts_);
    return std::move(parts_);
  }

 private:
  [[nodiscard]] std::optional<std::uint32_t> last_of_all() const {
    std::optional<std::uint32_t> last;
    for (std::uint32_t rank = 0; rank < timeline_.ranks.size(); ++rank) {
      const auto own = index_.last_before(rank, timeline_.step_end);
      if (own && (!last || timeline_.slices[*own].end > timeline_.slices[*last].end)) last = own;
    }
    return last;
  }

  void step_back() {
    const auto found = index_.last_before(rank_, now_);
    if (!found || timeline_.slices[*found].end <= timeline_.step_start) {
      add({.rank = rank_, .from = rank_, .kind = PathKind::kOther, .name = kNoName, .start = timeline_.step_start});
      return;
    }
    const TimelineSlice& slice = timeline_.slices[*found];
    if (slice.end < now_) {
      add({.rank = rank_, .from = rank_, .kind = PathKind::kOther, .name = kNoName, .start = slice.end});
    }
    PathPart part{
        .rank = rank_, .from = rank_, .kind = path_kind(slice.kind), .name = slice.name, .start = slice.start};
    std::uint32_t next = rank_;
    if (slice.kind != SliceKind::kCompute) {
      const std::uint32_t later = index_.last_to_join(*found);
      if (timeline_.slices[later].start < now_) {
        part.start = timeline_.slices[later].start;
        next = index_.rank_of(later);
      }
      if (part.kind == PathKind::kMessage) part.from = index_.rank_of(index_.other_end(*found));
    }
    add(part);
    rank_ = next;
  }

  // Up to now; what began before the step counts from its start.
  void add(PathPart part) {
    part.start = std::max(part.start, timeline_.step_start);
    part.end = now_;
    now_ = part.start;
    parts_.push_back(part);
  }

  const Timeline& timeline_;
  SliceIndex index_;
  std::uint32_t rank_ = 0;
  TimePoint now_;
  std::vector<PathPart> parts_;
};

// The communication that takes most of a time in which a rank computes nothing, among those that follow each other up
// to its end; none where the time ends with nothing that is known.
std::optional<std::uint32_t> cause_of(const Timeline& timeline, const SliceIndex& index, const StageWait& wait) {
  std::optional<std::uint32_t> cause;
  Duration most;
  TimePoint until = wait.end;
  while (until > wait.start) {
    const auto found = index.last_before(wait.rank, until);
    if (!found) break;
    const TimelineSlice& slice = timeline.slices[*found];
    if (slice.kind == SliceKind::kCompute || slice.end <= wait.start) break;
    if (slice.end < until && wait.next == kNoName && !cause) break;
    const TimePoint from = std::max(slice.start, wait.start);
    if (slice.end - from > most) {
      most = slice.end - from;
      cause = found;
    }
    until = from;
  }
  return cause;
}

StageWait wait_of(const Timeline& timeline, const SliceIndex& index, StageWait wait) {
  wait.from = wait.rank;
  const auto cause = cause_of(timeline, index, wait);
  if (!cause) return wait;
  const TimelineSlice& slice = timeline.slices[*cause];
  wait.kind = path_kind(slice.kind);
  wait.name = slice.name;
  wait.from = index.rank_of(wait.kind == PathKind::kMessage ? index.other_end(*cause) : index.last_to_join(*cause));
  return wait;
}

}  // namespace

std::vector<PathPart> critical_path(const Timeline& timeline) {
  return PathWalk(timeline).parts();
}

std::vector<StageWait> stage_waits(const Timeline& timeline) {
  struct Kernel {
    TimePoint start;
    TimePoint end;
    std::uint32_t name = kNoName;
    auto operator<=>(const Kernel&) const = default;
  };
  const SliceIndex index(timeline);
  std::vector<std::vector<Kernel>> kernels(timeline.ranks.size());
  for (const TimelineSlice& slice : timeline.slices) {
    if (slice.kind != SliceKind::kCompute || slice.end <= timeline.step_start) continue;
    kernels[timeline.tracks[slice.track].rank].push_back(
        {.start = std::max(slice.start, timeline.step_start), .end = slice.end, .name = slice.name});
  }
  std::vector<StageWait> waits;
  std::vector<std::string_view> roles;
  for (std::uint32_t rank = 0; rank < timeline.ranks.size(); ++rank) {
    if (std::ranges::find(roles, timeline.ranks[rank].role) != roles.end()) continue;
    roles.push_back(timeline.ranks[rank].role);
    std::ranges::sort(kernels[rank]);
    kernels[rank].push_back({.start = timeline.step_end, .end = timeline.step_end});
    TimePoint computed = timeline.step_start;
    for (const Kernel& kernel : kernels[rank]) {
      if (kernel.start > computed) {
        waits.push_back(
            wait_of(timeline, index, {.rank = rank, .next = kernel.name, .start = computed, .end = kernel.start}));
      }
      computed = std::max(computed, kernel.end);
    }
  }
  std::ranges::stable_sort(waits, std::ranges::greater(), &StageWait::time);
  return waits;
}

}  // namespace ringwright::traces
