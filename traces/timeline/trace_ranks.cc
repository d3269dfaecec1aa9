// The ranks and steps of a timeline: as named on the command line, or the ranks of one replica.
#include <algorithm>

#include <fmt/format.h>

#include "traces/input/log_text.h"
#include "traces/timeline/timeline.h"

namespace ringwright::traces {

namespace {

struct TraceList {
  std::string_view option;
  std::string_view what;
};

// "--trace-ranks 0,2-7" of eight.
std::string example_of(std::string_view option, std::size_t count) {
  return count > 3 ? fmt::format("{} 0,2-{}", option, count - 1) : fmt::format("{} 0", option);
}

Result<std::vector<std::uint32_t>> parse_trace_list(std::string_view text, std::size_t count, const TraceList& list) {
  std::vector<std::uint32_t> numbers;
  for (const std::string_view cell : cells_of(text)) {
    const std::size_t dash = cell.find('-');
    const auto first = parse_number<std::uint32_t>(cell.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number<std::uint32_t>(cell.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= count) {
      return tl::unexpected(failure("E267",
                                    fmt::format("'{}' in {} {} is no {} or range of {}s from 0 to {}", cell,
                                                list.option, text, list.what, list.what, count - 1),
                                    {}, example_of(list.option, count)));
    }
    for (std::uint32_t number = *first; number <= *last; ++number) numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  return numbers;
}

}  // namespace

Result<std::vector<RankId>> parse_trace_ranks(std::string_view text, std::size_t rank_count) {
  const auto numbers = parse_trace_list(text, rank_count, {.option = "--trace-ranks", .what = "rank"});
  if (!numbers) return tl::unexpected(numbers.error());
  std::vector<RankId> ranks;
  for (const std::uint32_t number : *numbers) ranks.emplace_back(number);
  return ranks;
}

Result<std::vector<std::uint32_t>> parse_trace_steps(std::string_view text, std::size_t step_count) {
  return parse_trace_list(text, step_count, {.option = "--trace-steps", .what = "step"});
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

std::vector<RankId> role_trace_ranks(const TaskGraph& graph, std::size_t most) {
  std::vector<std::string_view> roles;
  std::vector<RankId> ranks;
  for (std::uint32_t rank = 0; rank < graph.rank_count() && ranks.size() < most; ++rank) {
    const std::string_view role = graph.programs[graph.program_of[rank].index()].name;
    if (std::ranges::find(roles, role) != roles.end()) continue;
    roles.push_back(role);
    ranks.emplace_back(rank);
  }
  return ranks;
}

TimelineForm form_of_timeline(std::string_view file) {
  return file.ends_with(".json") ? TimelineForm::kChrome : TimelineForm::kPerfetto;
}

Diagnostics check_timeline_size(std::uint64_t slices, std::size_t ranks, TimelineForm form) {
  // About 60 bytes a slice in Perfetto's form, whose viewer takes 1 GB; about 200 in Chrome's. A page joins slices
  // to blocks, and needs all of them in memory for that.
  struct Limit {
    std::uint64_t most;
    std::string_view name;
    std::string_view hint;
  };
  const auto limit = [form]() -> Limit {
    switch (form) {
      case TimelineForm::kPerfetto:
        return {8'000'000, "Perfetto's form takes", "name fewer --trace-ranks or --trace-steps"};
      case TimelineForm::kChrome:
        return {250'000, "Chrome's form takes",
                "write Perfetto's form (a name that does not end in .json), or name fewer --trace-ranks or "
                "--trace-steps"};
      case TimelineForm::kPage: return {2'000'000, "a page takes", "simulate fewer steps"};
    }
    return {};
  }();
  if (slices <= limit.most) return {};
  return failure("E266",
                 fmt::format("a timeline of {} ranks has {} slices; {} {}", ranks, slices, limit.name, limit.most), {},
                 std::string(limit.hint));
}

// A curve of memory has about as many values as its rank has passes.
std::size_t most_memory_values(TimelineForm form) {
  switch (form) {
    case TimelineForm::kPerfetto: return 1'000'000;
    case TimelineForm::kChrome: return 50'000;
    case TimelineForm::kPage: return 0;  // has a panel of its own
  }
  return 0;
}

}  // namespace ringwright::traces
