#include "validation/kineto/stream_groups.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "traces/input/log_text.h"

namespace ringwright::validation {
namespace {

std::optional<StreamGroup> parse_stream_group(std::string_view text, int world_size) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const auto stream = traces::parse_number<int>(text.substr(0, equals));
  if (!stream) return std::nullopt;
  StreamGroup group{.stream = *stream, .ranks = {}};
  for (const std::string_view cell : traces::cells_of(text.substr(equals + 1))) {
    const auto rank = traces::parse_number<int>(cell);
    if (!rank || *rank < 0 || (world_size > 0 && *rank >= world_size)) return std::nullopt;
    if (std::ranges::find(group.ranks, *rank) != group.ranks.end()) return std::nullopt;
    group.ranks.push_back(*rank);
  }
  if (group.ranks.size() < 2) return std::nullopt;
  return group;
}

}  // namespace

Result<std::vector<StreamGroup>> parse_stream_groups(const std::vector<std::string>& texts, int world_size) {
  std::vector<StreamGroup> groups;
  Diagnostics problems;
  for (const std::string& text : texts) {
    if (auto group = parse_stream_group(text, world_size)) {
      groups.push_back(std::move(*group));
      continue;
    }
    problems.add({.code = "E264",
                  .message = fmt::format("--group is '{}' and must be a stream and two or more ranks of the job", text),
                  .excerpt = "",
                  .hint = "--group 363=0,8"});
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return groups;
}

Diagnostics place_streams(const std::vector<StreamGroup>& groups, traces::RankCalls& calls) {
  Diagnostics problems;
  for (const StreamGroup& group : groups) {
    const auto index = static_cast<std::uint32_t>(calls.groups.size());
    std::int64_t number = 0;
    for (traces::RecordedCall& call : calls.calls) {
      if (call.stream != group.stream) continue;
      call.group = index;
      call.sequence = number++;
    }
    if (number == 0) {
      problems.add({.code = "E264",
                    .place = {.file = calls.file},
                    .message = fmt::format("stream {} of --group has no calls of collectives", group.stream)});
    }
    calls.groups.push_back({.id = fmt::format("stream {}", group.stream),
                            .description = "",
                            .size = static_cast<int>(group.ranks.size()),
                            .ranks = group.ranks});
  }
  return problems;
}

}  // namespace ringwright::validation
