// The critical path and the waits of stages in words.
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "traces/timeline/critical_path.h"
#include "traces/timeline/slice_names.h"

namespace ringwright::traces {
namespace {

constexpr std::size_t kWaitsShown = 5;

// "the activations of stage 2, microbatch 5": what is sent is named by the pass that follows.
std::string message_text(const Timeline& timeline, const StageWait& wait) {
  const std::string& other = timeline.ranks[wait.from].role;
  const bool is_other = wait.from != wait.rank;
  const auto pass = wait.next == kNoName ? std::nullopt : pass_of(timeline.names[wait.next]);
  if (!is_other && (!pass || timeline.names[wait.name].ends_with(" send"))) {
    return "'" + call_label(timeline.names[wait.name]) + "'";
  }
  if (timeline.names[wait.name].ends_with(" send")) return other + " to receive its message";
  if (!pass) return "a message of " + other;
  std::string text = pass->direction == 'F' ? "the activations" : "the gradients";
  if (is_other) text += " of " + other;
  text += ", microbatch " + pass->microbatch;
  if (!pass->chunk.empty() && pass->chunk != "0") text += ", model chunk " + pass->chunk;
  return text;
}

// "stage 0, the last to join 'mp gradient norm'"
std::string collective_text(const Timeline& timeline, const StageWait& wait) {
  const std::string call = "'" + call_label(timeline.names[wait.name]) + "'";
  return wait.from == wait.rank ? call : timeline.ranks[wait.from].role + ", the last to join " + call;
}

std::string cause_text(const Timeline& timeline, const StageWait& wait) {
  switch (wait.kind) {
    case PathKind::kMessage: return message_text(timeline, wait);
    case PathKind::kCollective: return collective_text(timeline, wait);
    case PathKind::kCompute:
    case PathKind::kOther: break;
  }
  return wait.end == timeline.step_end ? "the end of the step on other ranks"
                                       : "its host, or for ranks that are not shown";
}

}  // namespace

std::string path_kind_text(const Timeline& timeline, const PathPart& part) {
  switch (part.kind) {
    case PathKind::kCompute: return "computing";
    case PathKind::kCollective:
    case PathKind::kMessage: return communication_kind(timeline.names[part.name]);
    case PathKind::kOther: break;
  }
  return "other";
}

std::vector<WaitSum> wait_sums(const Timeline& timeline) {
  std::map<std::pair<std::uint32_t, std::string>, std::size_t> known;
  std::vector<WaitSum> sums;
  for (const StageWait& wait : stage_waits(timeline)) {
    std::string cause = cause_text(timeline, wait);
    const auto [at, is_new] = known.try_emplace({wait.rank, cause}, sums.size());
    if (is_new) sums.push_back({.rank = wait.rank, .cause = std::move(cause), .first = wait.start});
    WaitSum& sum = sums[at->second];
    sum.total += wait.time();
    sum.longest = std::max(sum.longest, wait.time());
    sum.first = std::min(sum.first, wait.start);
    ++sum.count;
  }
  std::ranges::stable_sort(sums, std::ranges::greater(), &WaitSum::longest);
  return sums;
}

std::string wait_text(const Timeline& timeline, const WaitSum& wait) {
  const std::string times = wait.count > 1 ? fmt::format(" ({} times)", wait.count) : "";
  return fmt::format("{} waits {} for {}{}", timeline.ranks[wait.rank].role, to_string(wait.total), wait.cause, times);
}

std::string render_critical_path(const Timeline& timeline) {
  const std::vector<PathPart> path = critical_path(timeline);
  if (path.empty()) return {};
  std::vector<std::pair<std::string, Duration>> kinds;
  std::size_t changes = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::string kind = path_kind_text(timeline, path[i]);
    auto known = std::ranges::find(kinds, kind, [](const auto& entry) { return entry.first; });
    if (known == kinds.end()) known = kinds.emplace(kinds.end(), kind, Duration());
    known->second += path[i].end - path[i].start;
    if (i > 0 && path[i].rank != path[i - 1].rank) ++changes;
  }
  std::ranges::stable_sort(kinds, std::ranges::greater(), [](const auto& entry) { return entry.second; });
  const Duration step = timeline.step_end - timeline.step_start;
  std::string text = fmt::format(
      "\n  Critical path of the step: {}, {} tasks, {}\n", to_string(step), path.size(),
      changes == 0 ? "all of one rank"
                   : fmt::format("from rank to rank {}", changes == 1 ? "once" : fmt::format("{} times", changes)));
  for (const auto& [kind, time] : kinds) {
    text += fmt::format("    {:<28} {:>10}  {:5.1f} %\n", kind, to_string(time), 100.0 * ratio(time, step));
  }
  const std::vector<WaitSum> waits = wait_sums(timeline);
  for (std::size_t i = 0; i < std::min(waits.size(), kWaitsShown); ++i) {
    text += "    " + wait_text(timeline, waits[i]) + "\n";
  }
  return text;
}

}  // namespace ringwright::traces
