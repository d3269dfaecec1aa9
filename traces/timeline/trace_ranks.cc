// The ranks of a timeline: as named on the command line, or those of one replica.
#include <algorithm>

#include <fmt/format.h>

#include "traces/input/log_text.h"
#include "traces/timeline/timeline.h"

namespace ringwright::traces {

Result<std::vector<RankId>> parse_trace_ranks(std::string_view text, std::size_t rank_count) {
  std::vector<RankId> ranks;
  for (const std::string_view cell : cells_of(text)) {
    const std::size_t dash = cell.find('-');
    const auto first = parse_number<std::uint32_t>(cell.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number<std::uint32_t>(cell.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= rank_count) {
      return tl::unexpected(failure(
          "E267",
          fmt::format("'{}' in --trace-ranks {} is no rank or range of ranks from 0 to {}", cell, text, rank_count - 1),
          {}, "--trace-ranks 0,8-15"));
    }
    for (std::uint32_t rank = *first; rank <= *last; ++rank) ranks.emplace_back(rank);
  }
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  return ranks;
}

std::vector<RankId> usual_trace_ranks(const TaskGraph& graph, std::size_t most) {
  const auto replicas = std::ranges::find(graph.dimensions, "dp", &Dimension::name);
  std::vector<RankId> ranks;
  for (std::uint32_t rank = 0; rank < graph.rank_count() && ranks.size() < most; ++rank) {
    const bool first = replicas == graph.dimensions.end() || replicas->index_in_group[rank] == 0;
    if (first) ranks.emplace_back(rank);
  }
  return ranks;
}

TimelineForm form_of_timeline(std::string_view file) {
  return file.ends_with(".json") ? TimelineForm::kChrome : TimelineForm::kPerfetto;
}

Diagnostics check_timeline_size(std::uint64_t slices, std::size_t ranks, TimelineForm form) {
  // About 60 bytes a slice in Perfetto's form, whose viewer takes about 1 GB; about 200 in Chrome's.
  constexpr std::uint64_t kMostPerfetto = 8'000'000, kMostChrome = 250'000;
  const bool chrome = form == TimelineForm::kChrome;
  const std::uint64_t most = chrome ? kMostChrome : kMostPerfetto;
  if (slices <= most) return {};
  return failure("E266",
                 fmt::format("a timeline of {} ranks has {} slices; {} takes {}", ranks, slices,
                             chrome ? "Chrome's form" : "Perfetto's form", most),
                 {},
                 chrome ? "write Perfetto's form (a name that does not end in .json), or name fewer --trace-ranks"
                        : "name fewer --trace-ranks, or simulate fewer steps");
}

}  // namespace ringwright::traces
