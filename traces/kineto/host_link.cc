#include "traces/kineto/host_link.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace ringwright::traces {
namespace {

constexpr std::size_t kOperatorsListed = 20;
constexpr std::size_t kNoOperator = ~std::size_t{0};

// By event of the profile: the operator that it is, or kNoOperator.
using OperatorOf = std::vector<std::size_t>;

OperatorOf by_record(const PytorchTrace& host, const HostTrace& profile) {
  std::unordered_map<std::uint64_t, std::size_t> operators;
  for (std::size_t i = 0; i < host.operators.size(); ++i) operators.try_emplace(host.operators[i].record, i);
  OperatorOf result(profile.events.size(), kNoOperator);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (!profile.events[i].record) continue;
    const auto found = operators.find(*profile.events[i].record);
    if (found != operators.end() && host.operators[found->second].name == profile.events[i].name) {
      result[i] = found->second;
    }
  }
  return result;
}

OperatorOf by_order(const PytorchTrace& host, const HostTrace& profile) {
  std::map<std::string, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> of_name;
  for (std::size_t i = 0; i < host.operators.size(); ++i) of_name[host.operators[i].name].first.push_back(i);
  for (std::size_t i = 0; i < profile.events.size(); ++i) of_name[profile.events[i].name].second.push_back(i);
  OperatorOf result(profile.events.size(), kNoOperator);
  for (auto& [name, both] : of_name) {
    auto& [operators, events] = both;
    if (operators.size() != events.size()) continue;
    std::ranges::stable_sort(events, {}, [&](std::size_t event) {
      return std::tuple(profile.events[event].start_ns, -profile.events[event].end_ns);
    });
    for (std::size_t i = 0; i < events.size(); ++i) result[events[i]] = operators[i];
  }
  return result;
}

struct NameTotals {
  std::string name;
  Bytes input;
  std::int64_t calls = 0;
  std::int64_t kernels = 0;
  Duration time;
};

// Of operators with work on the GPU, by name and the size of their first input; those that take longest first.
std::vector<NameTotals> totals_of(const PytorchTrace& host, const HostLink& link) {
  std::map<std::pair<std::string, std::int64_t>, NameTotals> totals;
  for (std::size_t i = 0; i < host.operators.size(); ++i) {
    const PytorchOperator& from = host.operators[i];
    if (link.operators[i].kernels == 0) continue;
    NameTotals& total = totals[{from.name, from.input.count()}];
    total.name = from.name;
    total.input = from.input;
    ++total.calls;
    total.kernels += static_cast<std::int64_t>(link.operators[i].kernels);
    total.time = total.time + link.operators[i].time;
  }
  std::vector<NameTotals> sorted;
  for (auto& [key, total] : totals) sorted.push_back(std::move(total));
  std::ranges::stable_sort(sorted, std::ranges::greater(), &NameTotals::time);
  return sorted;
}

}  // namespace

HostLink link_host(const PytorchTrace& host, const HostTrace& profile) {
  const bool numbered =
      std::ranges::any_of(profile.events, [](const HostEvent& event) { return event.record.has_value(); });
  const OperatorOf operator_of = numbered ? by_record(host, profile) : by_order(host, profile);
  HostLink link{.operators = std::vector<LinkedOperator>(host.operators.size())};
  for (const std::size_t found : operator_of) {
    if (found != kNoOperator) link.operators[found].found = true;
  }
  for (const LaunchedWork& work : profile.work) {
    const auto launch = profile.launches.find(work.correlation);
    if (launch == profile.launches.end()) continue;
    const HostEvent* const event = profile.innermost(launch->second.thread, launch->second.start_ns);
    if (event == nullptr) continue;
    const std::size_t found = operator_of[static_cast<std::size_t>(event - profile.events.data())];
    if (found == kNoOperator) continue;
    LinkedOperator& to = link.operators[found];
    ++to.kernels;
    to.time = to.time + work.time;
    ++link.linked_work;
  }
  return link;
}

std::vector<std::size_t> profiles_of_hosts(const std::vector<std::string>& execution_traces,
                                           const std::vector<std::string>& profiles) {
  if (execution_traces.size() == 1 && profiles.size() == 1) return {0};
  std::vector<std::size_t> result(execution_traces.size(), kNoProfile);
  if (execution_traces.empty() || profiles.empty()) return result;
  std::map<std::int64_t, std::size_t> of_process;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const auto profile = read_host_trace(profiles[i]);
    if (profile && profile->process >= 0) of_process.try_emplace(profile->process, i);
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto host = read_pytorch_trace(execution_traces[i]);
    const auto found = host ? of_process.find(host->process) : of_process.end();
    if (found != of_process.end()) result[i] = found->second;
  }
  return result;
}

FileSummary summarise_host_link(const std::string& execution_trace, const std::string& profile) {
  FileSummary summary;
  const auto host = read_pytorch_trace(execution_trace);
  const auto recorded = read_host_trace(profile);
  if (!host || !recorded) {
    summary.problems = host ? recorded.error() : host.error();
    return summary;
  }
  const HostLink link = link_host(*host, *recorded);
  const auto found = std::ranges::count_if(link.operators, &LinkedOperator::found);
  summary.facts = {{.name = "operators of the host", .value = static_cast<std::int64_t>(host->operators.size())},
                   {.name = "of these in the profile", .value = std::int64_t{found}},
                   {.name = "work of the GPU", .value = static_cast<std::int64_t>(recorded->work.size())},
                   {.name = "of this by an operator", .value = static_cast<std::int64_t>(link.linked_work)}};
  SummaryTable table{.title = "operators by time on the GPU",
                     .columns = {"operator", "first input", "calls", "kernels", "time"},
                     .rows = {}};
  for (const NameTotals& total : totals_of(*host, link)) {
    if (table.rows.size() == kOperatorsListed) break;
    table.rows.push_back({total.name, total.input, total.calls, total.kernels, total.time});
  }
  summary.tables.push_back(std::move(table));
  return summary;
}

}  // namespace ringwright::traces
