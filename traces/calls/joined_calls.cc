#include "traces/calls/joined_calls.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace ringwright::traces {
namespace {

struct CallRecord {
  std::uint32_t group = 0;
  CallCounter counter = CallCounter::kCollectives;
  std::int64_t sequence = 0;
  std::size_t rank = 0;        // into the list of ranks
  std::size_t occurrence = 0;  // of the number on this rank
  const RecordedCall* call = nullptr;

  [[nodiscard]] auto number() const { return std::tuple(group, counter, sequence); }
};

// One call may have several records of a rank: a log may give one number to several kernels.
void sort_by_call(std::vector<CallRecord>& records) {
  std::ranges::stable_sort(records, {},
                           [](const CallRecord& record) { return std::pair(record.number(), record.rank); });
  for (std::size_t i = 1; i < records.size(); ++i) {
    const CallRecord& before = records[i - 1];
    if (records[i].number() == before.number() && records[i].rank == before.rank) {
      records[i].occurrence = before.occurrence + 1;
    }
  }
  std::ranges::stable_sort(records, {}, [](const CallRecord& record) {
    return std::tuple(record.number(), record.occurrence, record.rank);
  });
}

class GroupMerger final {
 public:
  // Groups of one id and size are one, unless both state their ranks and these differ: names may be of each rank's own.
  std::uint32_t add(const CallGroup& group) {
    std::vector<std::uint32_t>& named = index_[{group.id, group.size}];
    for (const std::uint32_t known : named) {
      CallGroup& merged = groups_[known];
      if (!merged.ranks.empty() && !group.ranks.empty() && merged.ranks != group.ranks) continue;
      if (merged.ranks.empty()) merged.ranks = group.ranks;
      if (merged.description.empty()) merged.description = group.description;
      return known;
    }
    named.push_back(static_cast<std::uint32_t>(groups_.size()));
    groups_.push_back(group);
    return named.back();
  }
  [[nodiscard]] std::vector<CallGroup> take() { return std::move(groups_); }

 private:
  std::map<std::pair<std::string, int>, std::vector<std::uint32_t>> index_;
  std::vector<CallGroup> groups_;
};

bool is_same_call(const RecordedCall& a, const RecordedCall& b) {
  return a.operation == b.operation && a.bytes == b.bytes;
}

// Records [begin, end) are of one call, from different ranks.
void join_one(const std::vector<CallRecord>& records, std::size_t begin, std::size_t end, JoinedCalls& joined) {
  const RecordedCall& first = *records[begin].call;
  JoinedCall call{.group = records[begin].group,
                  .operation = first.operation,
                  .kernel = first.kernel,
                  .dtype = first.dtype,
                  .bytes = first.bytes,
                  .sequence = first.sequence,
                  .recorded = 0,
                  .shortest = first.time,
                  .longest = first.time,
                  .shared = first.shared,
                  .other_buffer = first.other_buffer};
  std::size_t last = records[begin].rank;
  std::size_t shortest_count = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const RecordedCall& other = *records[i].call;
    if (!is_same_call(first, other)) {
      ++joined.contradicting;
      continue;
    }
    ++call.recorded;
    ++joined.ranks[records[i].rank].calls;
    if (other.time < call.shortest) {
      call.shortest = other.time;
      call.shared = other.shared;
      last = records[i].rank;
      shortest_count = 0;
    }
    if (other.time == call.shortest) ++shortest_count;
    call.longest = std::max(call.longest, other.time);
  }
  if (call.recorded < 2) --joined.ranks[records[begin].rank].calls;
  if (call.recorded >= 2 && shortest_count == 1) {
    RankLateness& late = joined.ranks[last];
    call.last_rank = late.rank;
    ++late.last;
    late.waited_for += call.longest - call.shortest;
  }
  joined.calls.push_back(std::move(call));
}

}  // namespace

JoinedCalls join_calls(const std::vector<RankCalls>& ranks) {
  JoinedCalls joined;
  GroupMerger merger;
  std::vector<CallRecord> records;
  std::map<std::uint32_t, std::size_t> ranks_of_group;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    joined.ranks.push_back({.rank = ranks[r].rank, .host = ranks[r].host});
    std::vector<std::uint32_t> merged;
    for (const CallGroup& group : ranks[r].groups) {
      merged.push_back(merger.add(group));
      ++ranks_of_group[merged.back()];
    }
    for (const RecordedCall& call : ranks[r].calls) {
      records.push_back({.group = merged[call.group],
                         .counter = counter_of(call.operation),
                         .sequence = call.sequence,
                         .rank = r,
                         .call = &call});
    }
  }
  joined.groups = merger.take();
  sort_by_call(records);
  std::size_t begin = 0;
  while (begin < records.size()) {
    const CallRecord& first = records[begin];
    const bool is_message = first.counter == CallCounter::kMessages;  // of one rank to another: not a call of both
    std::size_t end = begin + 1;
    while (!is_message && end < records.size() && records[end].number() == first.number() &&
           records[end].occurrence == first.occurrence) {
      ++end;
    }
    join_one(records, begin, end, joined);
    if (!is_message && joined.calls.back().recorded < 2 && ranks_of_group[first.group] > 1) ++joined.alone;
    begin = end;
  }
  return joined;
}

std::optional<RankLateness> latest_rank(const JoinedCalls& joined) {
  const auto found = std::ranges::max_element(joined.ranks, {}, &RankLateness::last);
  if (found == joined.ranks.end() || found->last == 0) return std::nullopt;
  return *found;
}

}  // namespace ringwright::traces
