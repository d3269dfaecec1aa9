#include "traces/kineto/kineto_summary.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/report/text_table.h"

namespace ringwright::traces {
namespace {

constexpr std::size_t kRanksShown = 16;
constexpr std::size_t kStepsShown = 8;
constexpr std::size_t kKernelsShown = 12;
constexpr std::size_t kCallRowsShown = 40;

std::string milliseconds(Duration time) {
  return fmt::format("{:.3f}", to_seconds(time) * 1e3);
}

std::string with_share(Duration part, Duration whole) {
  return fmt::format("{} ({:.1f} %)", milliseconds(part), whole > Duration(0) ? 100.0 * ratio(part, whole) : 0.0);
}

std::string lines_of(const TextTable& table) {
  std::string text;
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  return text;
}

std::string rank_name(const KinetoTrace& trace) {
  return trace.calls.rank < 0 ? std::string("-") : fmt::format("{}", trace.calls.rank);
}

void add_shares(TextTable& table, const std::string& rank, const TimeShares& shares) {
  table.add_row({rank, shares.name, milliseconds(shares.span), with_share(shares.computing, shares.span),
                 with_share(shares.communicating, shares.span), with_share(shares.exposed, shares.span),
                 with_share(shares.copying, shares.span), with_share(shares.idle, shares.span)});
}

std::string shares_text(const KinetoSummary& summary) {
  TextTable table({Align::kRight, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight});
  table.add_row({"rank", "span", "ms", "computing", "communication", "exposed", "copies alone", "idle"});
  const std::size_t shown = std::min(kRanksShown, summary.ranks.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const KinetoBreakdown& breakdown = summary.breakdowns[i];
    const std::string rank = rank_name(summary.ranks[i]);
    add_shares(table, rank, breakdown.whole);
    if (summary.ranks.size() > 1) continue;
    for (std::size_t s = 0; s < std::min(kStepsShown, breakdown.steps.size()); ++s) {
      add_shares(table, rank, breakdown.steps[s]);
    }
  }
  std::string text = "Time of the GPU, ms; exposed: communication while nothing is computed\n" + lines_of(table);
  if (shown < summary.ranks.size()) text += fmt::format("  and {} ranks\n", summary.ranks.size() - shown);
  return text;
}

std::string kernels_text(const KinetoTrace& trace, const KinetoBreakdown& breakdown) {
  Duration sum = breakdown.copies + breakdown.memsets;
  for (const FamilyTime& family : breakdown.families) sum += family.time;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight});
  table.add_row({"work", "count", "ms"});
  for (const FamilyTime& family : breakdown.families) {
    table.add_row(
        {std::string(to_string(family.family)), fmt::format("{}", family.count), with_share(family.time, sum)});
  }
  if (breakdown.copy_count > 0) {
    table.add_row({"copies", fmt::format("{}", breakdown.copy_count), with_share(breakdown.copies, sum)});
  }
  if (breakdown.memset_count > 0) {
    table.add_row({"memory sets", fmt::format("{}", breakdown.memset_count), with_share(breakdown.memsets, sum)});
  }
  TextTable kernels({Align::kRight, Align::kRight, Align::kLeft});
  kernels.add_row({"ms", "count", "kernel"});
  for (std::size_t i = 0; i < std::min(kKernelsShown, breakdown.kernels.size()); ++i) {
    const KernelTime& kernel = breakdown.kernels[i];
    kernels.add_row({milliseconds(kernel.time), fmt::format("{}", kernel.count), shorten(kernel.name, 90)});
  }
  std::string text = fmt::format("Work of rank {} by family of kernels, summed over {} streams\n", rank_name(trace),
                                 breakdown.streams);
  return text + lines_of(table) + "Kernels of most time\n" + lines_of(kernels);
}

std::string head_text(const KinetoSummary& summary) {
  const KinetoTrace& first = summary.ranks.front();
  std::string text =
      fmt::format("{} trace{} of PyTorch's profiler", summary.ranks.size(), summary.ranks.size() == 1 ? "" : "s");
  if (first.world_size > 0) text += fmt::format(" of {} ranks", first.world_size);
  if (!first.gpu.empty()) text += ", " + first.gpu;
  if (!first.nccl_version.empty()) text += ", NCCL " + first.nccl_version;
  std::size_t events = 0, activities = 0;
  for (const KinetoTrace& trace : summary.ranks) {
    events += trace.events;
    activities += trace.activities.size();
  }
  return text + fmt::format("\n{} events, {} of them work of a GPU; {} calls of collectives\n\n", events, activities,
                            summary.joined.calls.size());
}

std::string calls_text(const KinetoSummary& summary) {
  if (summary.rows.empty()) return "No kernels of NCCL or RCCL\n";
  std::string text =
      summary.ranks.size() > 1
          ? "Collectives; time: the shortest of the ranks, skew: the longest less the shortest (medians)\n"
          : "Collectives; the time of one rank includes waiting for the others\n";
  text += call_table_text(summary.rows, kCallRowsShown);
  const JoinedCalls& joined = summary.joined;
  if (joined.alone > 0) text += fmt::format("  {} calls are recorded by one of several ranks only\n", joined.alone);
  if (joined.contradicting > 0) {
    text += fmt::format("  {} records differ from the call of the same number in operation or size\n",
                        joined.contradicting);
  }
  const std::string late = lateness_text(joined);
  return late.empty() ? text : text + "\n" + late;
}

void check_belonging(const std::vector<KinetoTrace>& traces, Diagnostics& problems) {
  for (std::size_t i = 1; i < traces.size(); ++i) {
    const KinetoTrace& before = traces[i - 1];
    const KinetoTrace& trace = traces[i];
    std::string why;
    if (trace.calls.rank < 0 || before.calls.rank < 0) {
      why = "has no rank: neither distributedInfo nor the file's name states it";
    } else if (trace.calls.rank == before.calls.rank) {
      why = fmt::format("and '{}' are both of rank {}", before.file, trace.calls.rank);
    } else if (trace.world_size != before.world_size) {
      why = fmt::format("is of a job of {} ranks, '{}' of {}", trace.world_size, before.file, before.world_size);
    }
    if (why.empty()) continue;
    const std::string& file = before.calls.rank < 0 ? before.file : trace.file;
    problems.add({.code = "E260",
                  .place = {.file = file},
                  .message = fmt::format("'{}' {}", file, why),
                  .excerpt = "",
                  .hint = "pass one trace of each rank, of one job and one profiled window"});
  }
}

}  // namespace

Result<KinetoSummary> summarise_kineto(const std::vector<std::string>& files) {
  std::vector<KinetoTrace> traces;
  Diagnostics problems, warnings;
  for (const std::string& file : files) {
    auto reading = read_kineto(file);
    if (!reading) {
      for (const Diagnostic& problem : reading.error().all()) problems.add(problem);
      continue;
    }
    for (const Diagnostic& warning : reading->warnings.all()) warnings.add(warning);
    traces.push_back(std::move(reading->trace));
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  auto summary = summarise_kineto_traces(std::move(traces));
  if (summary) summary->warnings = std::move(warnings);
  return summary;
}

Result<KinetoSummary> summarise_kineto_traces(std::vector<KinetoTrace> traces) {
  if (traces.empty()) return tl::unexpected(failure("E255", "no trace is named"));
  std::ranges::stable_sort(traces, {}, [](const KinetoTrace& trace) { return trace.calls.rank; });
  Diagnostics problems;
  check_belonging(traces, problems);
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  KinetoSummary summary;
  std::vector<RankCalls> calls;
  for (const KinetoTrace& trace : traces) {
    summary.breakdowns.push_back(break_down(trace));
    calls.push_back(trace.calls);
  }
  summary.joined = join_calls(calls);
  summary.rows = call_rows(summary.joined);
  summary.ranks = std::move(traces);
  return summary;
}

std::string kineto_summary_text(const KinetoSummary& summary) {
  return head_text(summary) + shares_text(summary) + "\n" +
         kernels_text(summary.ranks.front(), summary.breakdowns.front()) + "\n" + calls_text(summary);
}

}  // namespace ringwright::traces
