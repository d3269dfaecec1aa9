// What chosen ranks did during a run, as slices on tracks: the form from which timeline files are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"
#include "core/record/run_record.h"
#include "traces/timeline/link_curves.h"
#include "traces/timeline/memory_curves.h"

namespace ringwright::traces {

enum class SliceKind : std::uint8_t { kCompute, kCollective, kSend, kReceive };
inline constexpr std::size_t kSliceKinds = 4;
[[nodiscard]] std::string_view to_string(SliceKind kind);

// A stream of a rank. Tasks without a stream may overlap: they have as many tracks as are needed.
struct TimelineTrack {
  std::uint32_t rank = 0;  // into Timeline::ranks
  std::string name;        // "compute", "stream 2: tp", "messages 1: pp"
};

struct TimelineSlice {
  std::uint32_t track = 0;
  std::uint32_t name = 0;  // into Timeline::names
  SliceKind kind = SliceKind::kCompute;
  std::uint32_t iteration = 0;
  TimePoint start;
  TimePoint end;
  Bytes bytes;             // of communication
  std::uint64_t flow = 0;  // slices of one flow belong to one collective or message; 0: none
};

struct TimelineRank {
  RankId rank;
  std::string role;  // of its program: "stage 3"
};

struct Timeline {
  std::string title;
  std::vector<TimelineRank> ranks;
  std::vector<TimelineTrack> tracks;
  std::vector<std::string> names;
  std::vector<TimelineSlice> slices;  // by track, then by start; those of one track do not overlap
  TimePoint step_start;               // of the last step that is shown: the end of the one before
  TimePoint step_end;
  std::optional<LinkCurves> links;  // where they were recorded
  MemoryCurves memory;
};

// What a timeline shows: ranks, and training steps by their numbers, both ascending.
struct TraceSelection {
  std::vector<RankId> ranks;
  std::vector<std::uint32_t> steps;
};

// Of a record that holds the spans of these ranks' classes. `graph` is the one that was run, no cycles left out.
[[nodiscard]] Timeline timeline_of(const RunRecord& record, const TaskGraph& graph, const RankClasses& classes,
                                   const TraceSelection& shown);

// How many slices the ranks have in these steps.
[[nodiscard]] std::uint64_t count_slices(const TaskGraph& graph, const TraceSelection& shown);

// "0,8-15" as ranks or steps, ascending; an error names the place and what the job has.
[[nodiscard]] Result<std::vector<RankId>> parse_trace_ranks(std::string_view text, std::size_t rank_count);
[[nodiscard]] Result<std::vector<std::uint32_t>> parse_trace_steps(std::string_view text, std::size_t step_count);
// Where none are named: the ranks of one replica, those of index 0 in the dimension "dp", the first `most` of them.
[[nodiscard]] std::vector<RankId> usual_trace_ranks(const TaskGraph& graph, std::size_t most);

// The first rank of each role (stage), in the order of the ranks, the first `most` of them.
[[nodiscard]] std::vector<RankId> role_trace_ranks(const TaskGraph& graph, std::size_t most);

// Written by the name of the file: Chrome's JSON for "*.json", else Perfetto's protobuf. Errors: more slices than the
// viewer of that form takes.
enum class TimelineForm : std::uint8_t { kPerfetto, kChrome, kPage };  // kPage: blocks of the HTML report
[[nodiscard]] TimelineForm form_of_timeline(std::string_view file);
[[nodiscard]] Diagnostics check_timeline_size(std::uint64_t slices, std::size_t ranks, TimelineForm form);
// How many values the counters of such a file may have; those of links are few.
[[nodiscard]] std::size_t most_memory_values(TimelineForm form);
[[nodiscard]] std::string perfetto_trace(const Timeline& timeline);
[[nodiscard]] std::string chrome_trace(const Timeline& timeline);

}  // namespace ringwright::traces
