#include "configs/astra/astra_report.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"

namespace ringwright::configs {
namespace {

constexpr std::size_t kMostRows = 16;

// Ranks that finished, in order of time, then of number.
std::vector<std::size_t> by_finish(const JobOutcome& outcome) {
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 0; rank < outcome.ranks.size(); ++rank) {
    if (outcome.ranks[rank].finish) ranks.push_back(rank);
  }
  std::ranges::stable_sort(ranks, {}, [&](std::size_t rank) { return *outcome.ranks[rank].finish; });
  return ranks;
}

std::string nanoseconds(Tick ticks) {
  return with_commas(ticks) + " ns";
}

std::string rank_line(const JobOutcome& outcome, std::string_view title, std::size_t rank) {
  const RankOutcome& found = outcome.ranks[rank];
  return fmt::format("{:<14} rank {}: {}, computing {}, exposed communication {}\n", title, rank,
                     nanoseconds(*found.finish), nanoseconds(found.gpu), nanoseconds(found.exposed()));
}

std::string calls_text(const AstraJob& job, const JobOutcome& outcome) {
  if (outcome.calls.empty()) return {};
  std::vector<CallOutcome> calls = outcome.calls;
  std::ranges::stable_sort(calls, std::greater<>(), &CallOutcome::total);
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.add_row({"collective", "group", "times", "mean", "longest"});
  for (std::size_t i = 0; i < std::min(calls.size(), kMostRows); ++i) {
    const CallOutcome& call = calls[i];
    const GraphCall& use = job.job.calls[call.call];
    table.add_row({use.name, job.job.groups[use.group].name, with_commas(static_cast<long long>(call.executions)),
                   nanoseconds(call.total / static_cast<Tick>(call.executions)), nanoseconds(call.longest)});
  }
  std::string text = "Collectives, from the first member's call to the last one's end\n";
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  if (calls.size() > kMostRows) text += fmt::format("  and {} more\n", calls.size() - kMostRows);
  return text;
}

std::string links_text(const JobOutcome& outcome) {
  if (outcome.links.empty()) return {};
  TextTable table({Align::kLeft, Align::kRight, Align::kRight});
  table.add_row({"link", "bytes", "busy"});
  for (const MessageLinkUsage& link : outcome.links) {
    if (link.bytes == 0) continue;
    table.add_row({link.name, with_commas(link.bytes), link.busy > 0 ? nanoseconds(link.busy) : ""});
  }
  std::string text = "Busiest links, by messages simulated one by one\n";
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  return table.lines().size() > 1 ? text : std::string();
}

}  // namespace

std::string astra_log(const JobOutcome& outcome) {
  std::string text;
  for (const std::size_t rank : by_finish(outcome)) {
    const RankOutcome& found = outcome.ranks[rank];
    text += fmt::format("sys[{}] finished, {} cycles, exposed communication {} cycles.\n", rank, *found.finish,
                        found.exposed());
  }
  return text;
}

std::string astra_report(const AstraJob& job, const JobOutcome& outcome) {
  std::string text = fmt::format("{:<14} {}, {}\n", "network", job.network_text,
                                 job.networks->shares_links() ? "aware of congestion" : "unaware of congestion");
  const std::vector<std::size_t> finished = by_finish(outcome);
  text += fmt::format("{:<14} {} of {} finished\n", "ranks", finished.size(), outcome.ranks.size());
  if (!finished.empty()) {
    text += rank_line(outcome, "slowest", finished.back());
    text += rank_line(outcome, "fastest", finished.front());
  }
  return text + calls_text(job, outcome) + links_text(outcome);
}

std::string astra_json(const AstraJob& job, const JobOutcome& outcome) {
  std::vector<std::string> ranks, calls, links;
  for (const RankOutcome& rank : outcome.ranks) {
    ranks.push_back(rank.finish ? fmt::format("{{\"finish_ns\": {}, \"compute_ns\": {}, \"exposed_ns\": {}}}",
                                              *rank.finish, rank.gpu, rank.exposed())
                                : "null");
  }
  for (const CallOutcome& call : outcome.calls) {
    const GraphCall& use = job.job.calls[call.call];
    calls.push_back(fmt::format(
        "{{\"collective\": {}, \"group\": {}, \"times\": {}, \"total_ns\": {}, \"longest_ns\": {}}}",
        json_text(use.name), json_text(job.job.groups[use.group].name), call.executions, call.total, call.longest));
  }
  for (const MessageLinkUsage& link : outcome.links) {
    links.push_back(
        fmt::format("{{\"link\": {}, \"bytes\": {}, \"busy_ns\": {}}}", json_text(link.name), link.bytes, link.busy));
  }
  return fmt::format(
      "{{\n  \"network\": {},\n  \"events\": {},\n  \"ranks\": [{}],\n  \"collectives\": [{}],\n"
      "  \"links\": [{}]\n}}\n",
      json_text(job.network_text), outcome.events, join(ranks, ",\n    "), join(calls, ",\n    "),
      join(links, ",\n    "));
}

Diagnostics astra_failures(const JobOutcome& outcome, const std::string& workload) {
  Diagnostics failures;
  const auto add = [&](std::string code, std::string message, std::string hint) {
    failures.add(
        {.code = std::move(code), .place = {.file = workload}, .message = std::move(message), .hint = std::move(hint)});
  };
  const auto node_text = [](const StuckNode& stuck) {
    return fmt::format("rank {}, node {}: {}", stuck.rank, stuck.node, stuck.reason);
  };
  if (outcome.mismatch) {
    add("E278", node_text(*outcome.mismatch), "members of a group call the same collectives in the same order");
    return failures;
  }
  if (outcome.out_of_clock) {
    add("E279", "the run goes beyond 2^61 ns", "a duration, latency or size is far too large");
    return failures;
  }
  const auto unfinished = std::ranges::count_if(outcome.ranks, [](const auto& rank) { return !rank.finish; });
  if (unfinished == 0) return failures;
  add("E278", fmt::format("{} of {} ranks never finish", unfinished, outcome.ranks.size()), {});
  for (const StuckNode& stuck : outcome.stuck) add("E278", node_text(stuck), {});
  return failures;
}

}  // namespace ringwright::configs
