#include "planning/report/gantt_blocks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "traces/timeline/slice_names.h"

namespace ringwright::planning {
namespace {

using traces::SliceKind;
using traces::Timeline;
using traces::TimelineSlice;

// Gaps below this share of the step are not visible on a screen of 4,000 columns.
constexpr double kInvisible = 1.0 / 4000.0;
constexpr std::string_view kOtherWork = "optimizer and others";

// "forward" of "F3.0 forward".
std::string kind_of_computing(const std::string& name) {
  return traces::pass_of(name) ? name.substr(name.find(' ') + 1) : std::string(kOtherWork);
}

// Blocks of one rank in one step.
class RowBuilder {
 public:
  RowBuilder(const Timeline& timeline, std::string row, TimePoint origin, double gap)
      : timeline_(timeline), row_(std::move(row)), origin_(origin), gap_(gap) {}

  void add(const TimelineSlice& slice) {
    const std::string& name = timeline_.names[slice.name];
    if (slice.kind == SliceKind::kCompute) {
      if (computing_.empty() || computing_.back().task != name || gap_before(computing_.back(), slice) > kWidestPass) {
        computing_.push_back(block_of(slice, kind_of_computing(name), name));
      } else {
        extend(computing_.back(), slice);
      }
      return;
    }
    waiting_.emplace_back(traces::communication_kind(name), &slice);
  }

  void move_to(std::vector<GanttBlock>& blocks) {
    std::ranges::stable_sort(waiting_, {},
                             [](const auto& entry) { return std::tuple(entry.first, entry.second->start); });
    std::vector<GanttBlock> communication;
    for (const auto& [kind, slice] : waiting_) {
      const bool joins = !communication.empty() && communication.back().kind == kind &&
                         gap_before(communication.back(), *slice) <= gap_;
      if (joins) {
        if (communication.back().task != timeline_.names[slice->name]) communication.back().task = kind;
        extend(communication.back(), *slice);
      } else {
        communication.push_back(block_of(*slice, kind, timeline_.names[slice->name]));
      }
    }
    std::ranges::move(computing_, std::back_inserter(blocks));
    std::ranges::move(communication, std::back_inserter(blocks));
  }

 private:
  // Kernels of one pass may wait long for communication; they are one block all the same.
  static constexpr double kWidestPass = 1e9;

  [[nodiscard]] double seconds(TimePoint at) const { return to_seconds(at - origin_); }
  [[nodiscard]] double gap_before(const GanttBlock& block, const TimelineSlice& slice) const {
    return seconds(slice.start) - block.end;
  }
  [[nodiscard]] GanttBlock block_of(const TimelineSlice& slice, std::string kind, std::string task) const {
    return {.row = row_,
            .kind = std::move(kind),
            .task = std::move(task),
            .start = seconds(slice.start),
            .end = seconds(slice.end),
            .busy = to_seconds(slice.end - slice.start),
            .tasks = 1,
            .bytes = static_cast<double>(slice.bytes.count())};
  }
  // Slices of one dimension may overlap: only what is new counts as busy.
  void extend(GanttBlock& block, const TimelineSlice& slice) const {
    block.busy += std::max(seconds(slice.end) - std::max(seconds(slice.start), block.end), 0.0);
    block.end = std::max(block.end, seconds(slice.end));
    ++block.tasks;
    block.bytes += static_cast<double>(slice.bytes.count());
  }

  const Timeline& timeline_;
  std::string row_;
  TimePoint origin_;
  double gap_;
  std::vector<GanttBlock> computing_;
  std::vector<std::pair<std::string, const TimelineSlice*>> waiting_;
};

// The first rank of each role, in their order.
std::vector<std::uint32_t> ranks_of_roles(const Timeline& timeline) {
  std::vector<std::uint32_t> ranks;
  std::vector<std::string_view> roles;
  for (std::uint32_t i = 0; i < timeline.ranks.size(); ++i) {
    if (std::ranges::find(roles, timeline.ranks[i].role) != roles.end()) continue;
    roles.push_back(timeline.ranks[i].role);
    ranks.push_back(i);
  }
  return ranks;
}

struct StepRange {
  std::uint32_t iteration = 0;
  TimePoint start;
  TimePoint end;
};

StepRange last_step(const Timeline& timeline) {
  StepRange step;
  for (const TimelineSlice& slice : timeline.slices) step.iteration = std::max(step.iteration, slice.iteration);
  bool first = true;
  for (const TimelineSlice& slice : timeline.slices) {
    if (slice.iteration != step.iteration) continue;
    step.start = first ? slice.start : std::min(step.start, slice.start);
    step.end = first ? slice.end : std::max(step.end, slice.end);
    first = false;
  }
  return step;
}

std::vector<GanttBlock> blocks_of(const Timeline& timeline, const std::vector<std::uint32_t>& ranks,
                                  const StepRange& step, double gap) {
  std::map<std::uint32_t, RowBuilder> rows;
  for (const std::uint32_t rank : ranks) rows.try_emplace(rank, timeline, timeline.ranks[rank].role, step.start, gap);
  for (const TimelineSlice& slice : timeline.slices) {
    if (slice.iteration != step.iteration) continue;
    const auto row = rows.find(timeline.tracks[slice.track].rank);
    if (row != rows.end()) row->second.add(slice);
  }
  std::vector<GanttBlock> blocks;
  for (auto& [rank, row] : rows) row.move_to(blocks);
  return blocks;
}

}  // namespace

GanttBlocks gantt_blocks(const Timeline& timeline, std::size_t most) {
  std::vector<std::uint32_t> ranks = ranks_of_roles(timeline);
  const StepRange step = last_step(timeline);
  const double gap = to_seconds(step.end - step.start) * kInvisible;
  GanttBlocks result{.blocks = blocks_of(timeline, ranks, step, gap)};
  const std::size_t roles = ranks.size();
  while (result.blocks.size() > most && ranks.size() > 1) {
    std::vector<std::uint32_t> every_second;
    for (std::size_t i = 0; i < ranks.size(); i += 2) every_second.push_back(ranks[i]);
    ranks = std::move(every_second);
    result.blocks = blocks_of(timeline, ranks, step, gap);
  }
  if (ranks.size() < roles) {
    result.note = fmt::format("{} of {} stages are shown, since a page holds {} blocks; `--timeline` has all of them.",
                              ranks.size(), roles, most);
  }
  if (result.blocks.size() > most) {
    result.blocks.resize(most);
    result.note = fmt::format("The first {} blocks are shown; `--timeline` has all of them.", most);
  }
  return result;
}

}  // namespace ringwright::planning
