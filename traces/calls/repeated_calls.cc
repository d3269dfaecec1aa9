#include "traces/calls/repeated_calls.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace ringwright::traces {
namespace {

struct RecordAt {
  std::size_t process = 0;
  std::size_t call = 0;
};

using Repeated = std::map<std::size_t, std::vector<std::size_t>>;  // calls by process

// All that tells one call of a rank from another.
auto identity_of(const std::vector<RankCalls>& processes, const RecordAt& at) {
  const RankCalls& process = processes[at.process];
  const RecordedCall& call = process.calls[at.call];
  const CallGroup& group = process.groups[call.group];
  return std::tuple(call.sequence, std::string_view(group.id), group.size, std::string_view(call.operation),
                    call.start_ns, call.time, call.bytes);
}

void find_repeated(const std::vector<RankCalls>& processes, const std::vector<std::size_t>& of_rank,
                   Repeated& repeated) {
  std::vector<RecordAt> records;
  for (const std::size_t process : of_rank) {
    for (std::size_t call = 0; call < processes[process].calls.size(); ++call) records.push_back({process, call});
  }
  const auto identity = [&](const RecordAt& at) { return identity_of(processes, at); };
  std::ranges::stable_sort(records, {}, identity);
  for (std::size_t i = 1; i < records.size(); ++i) {
    if (identity(records[i]) == identity(records[i - 1])) repeated[records[i].process].push_back(records[i].call);
  }
}

}  // namespace

std::size_t drop_repeated_calls(std::vector<RankCalls>& processes) {
  std::map<std::pair<std::string, std::int64_t>, std::vector<std::size_t>> of_ranks;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const std::int64_t number = processes[i].rank >= 0 ? processes[i].rank : -1 - static_cast<std::int64_t>(i);
    of_ranks[{processes[i].host, number}].push_back(i);
  }
  Repeated repeated;
  for (const auto& [name, of_rank] : of_ranks) find_repeated(processes, of_rank, repeated);
  std::size_t count = 0;
  for (auto& [process, calls] : repeated) {
    count += calls.size();
    std::ranges::sort(calls);
    std::size_t index = 0;
    std::erase_if(processes[process].calls,
                  [&](const RecordedCall&) { return std::ranges::binary_search(calls, index++); });
  }
  std::size_t index = 0;
  std::erase_if(processes,
                [&](const RankCalls& process) { return repeated.contains(index++) && process.calls.empty(); });
  return count;
}

}  // namespace ringwright::traces
