#include "traces/calls/call_table.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/report/text_table.h"

namespace ringwright::traces {
namespace {

std::string microseconds_cell(Duration time) {
  return fmt::format("{:.1f}", to_seconds(time) * 1e6);
}

// The lower one of two in the middle.
Duration median_of(std::vector<Duration>& times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

std::string indented(const TextTable& table) {
  std::string text;
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  return text;
}

struct RowTimes {
  std::vector<Duration> own;
  std::vector<Duration> skew;
};

}  // namespace

std::vector<CallRow> call_rows(const JoinedCalls& joined) {
  using Key = std::tuple<std::string, std::string, std::optional<Bytes>, int, std::string>;
  std::map<Key, RowTimes> times;
  for (const JoinedCall& call : joined.calls) {
    RowTimes& row = times[{call.operation, call.dtype, call.bytes, joined.groups[call.group].size, call.kernel}];
    row.own.push_back(call.shortest);
    row.skew.push_back(call.longest - call.shortest);
  }
  std::vector<CallRow> rows;
  for (auto& [key, of_row] : times) {
    CallRow row{.operation = std::get<0>(key),
                .dtype = std::get<1>(key),
                .bytes = std::get<2>(key),
                .group_size = std::get<3>(key),
                .kernel = std::get<4>(key),
                .count = of_row.own.size()};
    row.shortest = std::ranges::min(of_row.own);
    row.longest = std::ranges::max(of_row.own);
    for (const Duration time : of_row.own) row.sum += time;
    row.median = median_of(of_row.own);
    row.median_skew = median_of(of_row.skew);
    const CallRates rates = rates_of(row.operation, row.group_size, row.bytes, row.median);
    row.algbw = rates.algbw;
    row.busbw = rates.busbw;
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &CallRow::sum);
  return rows;
}

std::string call_table_text(const std::vector<CallRow>& rows, std::size_t most) {
  TextTable table({Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kLeft, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.add_row({"collective", "type", "bytes", "ranks", "kernel", "calls", "min us", "median us", "max us", "skew us",
                 "algbw GB/s", "busbw GB/s"});
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
    const CallRow& row = rows[i];
    const auto rate = [](double value) { return value > 0.0 ? fmt::format("{:.2f}", value) : std::string("-"); };
    table.add_row(
        {row.operation, row.dtype.empty() ? "-" : row.dtype, row.bytes ? fmt::format("{}", row.bytes->count()) : "-",
         row.group_size > 0 ? fmt::format("{}", row.group_size) : "-", row.kernel.empty() ? "-" : row.kernel,
         fmt::format("{}", row.count), microseconds_cell(row.shortest), microseconds_cell(row.median),
         microseconds_cell(row.longest), microseconds_cell(row.median_skew), rate(row.algbw), rate(row.busbw)});
  }
  std::string text = indented(table);
  if (rows.size() > most) text += fmt::format("  and {} rows of less time\n", rows.size() - most);
  return text;
}

std::string lateness_text(const JoinedCalls& joined) {
  const auto latest = latest_rank(joined);
  if (!latest) return "";
  constexpr std::size_t kShown = 8;
  std::vector<RankLateness> ranks = joined.ranks;
  std::ranges::stable_sort(ranks, std::ranges::greater(), &RankLateness::last);
  TextTable table({Align::kRight, Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.add_row({"rank", "host", "calls", "last", "waited for ms"});
  for (std::size_t i = 0; i < std::min(kShown, ranks.size()); ++i) {
    const RankLateness& rank = ranks[i];
    table.add_row({fmt::format("{}", rank.rank), rank.host.empty() ? "-" : rank.host, fmt::format("{}", rank.calls),
                   fmt::format("{}", rank.last), fmt::format("{:.3f}", to_seconds(rank.waited_for) * 1e3)});
  }
  std::string text = fmt::format("Rank {} arrives last most often: in {} of {} calls that others recorded too\n",
                                 latest->rank, latest->last, latest->calls);
  return text + indented(table);
}

std::string call_row_json(const CallRow& row) {
  const auto us = [](Duration time) { return to_seconds(time) * 1e6; };
  return fmt::format(
      "{{\"operation\": {}, \"type\": {}, \"bytes\": {}, \"ranks\": {}, \"kernel\": {}, \"calls\": {}, "
      "\"min_us\": {:.6g}, \"median_us\": {:.6g}, \"max_us\": {:.6g}, \"median_skew_us\": {:.6g}, "
      "\"algbw\": {:.6g}, \"busbw\": {:.6g}}}",
      json_text(row.operation), json_text(row.dtype), row.bytes ? fmt::format("{}", row.bytes->count()) : "null",
      row.group_size, json_text(row.kernel), row.count, us(row.shortest), us(row.median), us(row.longest),
      us(row.median_skew), row.algbw, row.busbw);
}

std::string lateness_json(const RankLateness& rank) {
  return fmt::format("{{\"rank\": {}, \"host\": {}, \"calls\": {}, \"last\": {}, \"waited_for_us\": {:.6g}}}",
                     rank.rank, json_text(rank.host), rank.calls, rank.last, to_seconds(rank.waited_for) * 1e6);
}

}  // namespace ringwright::traces
