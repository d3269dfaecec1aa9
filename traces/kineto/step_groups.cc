#include "traces/kineto/step_groups.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace ringwright::traces {
namespace {

using Ranks = std::vector<std::uint32_t>;

// "0, 8, 16, 24, ..."
std::string list_text(const Ranks& ranks) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(ranks.size(), 4); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
  }
  return ranks.size() > 4 ? text + ", ..." : text;
}

// The group of `rank` where groups like that of `own` are repeated over the job; empty where they do not divide it.
Ranks repeated(const Ranks& group, std::uint32_t rank, std::size_t job) {
  const std::size_t size = group.size();
  const std::size_t stride = size > 1 ? group[1] - group[0] : 1;
  for (std::size_t i = 1; i < size; ++i) {
    if (group[i] != group[0] + i * stride) return {};
  }
  const std::size_t block = size * stride;
  if (group[0] % block >= stride || job % block != 0) return {};
  const std::size_t first = rank / block * block + rank % stride;
  Ranks other;
  for (std::size_t i = 0; i < size; ++i) other.push_back(static_cast<std::uint32_t>(first + i * stride));
  return other;
}

class GroupFinder {
 public:
  GroupFinder(const std::vector<KinetoTrace>& traces, std::size_t ranks, std::vector<StepWork>& steps)
      : traces_(traces), ranks_(ranks), steps_(steps) {}

  [[nodiscard]] Result<JobGroups> find() {
    find_traces();
    for (std::uint32_t rank = 0; rank < ranks_ && !problems_.has_errors(); ++rank) name_groups(rank);
    if (!problems_.has_errors()) find_members();
    if (!problems_.has_errors()) join_sizes();
    if (problems_.has_errors()) return tl::unexpected(std::move(problems_));
    return std::move(found_);
  }

 private:
  void error(const KinetoTrace& trace, std::string message, std::string hint = "") {
    if (problems_.error_count() >= 20) return;
    problems_.add(
        {.code = "E627", .place = {.file = trace.file}, .message = std::move(message), .hint = std::move(hint)});
  }

  void find_traces() {
    found_.ranks.resize(ranks_);
    for (const KinetoTrace& trace : traces_) {
      if (trace.world_size > 0 && std::cmp_not_equal(trace.world_size, ranks_)) {
        error(trace, fmt::format("the job has {} ranks and the cluster {} GPUs", trace.world_size, ranks_),
              "change cluster.nodes or cluster.node.gpus");
      }
    }
    if (traces_.size() == 1) return;
    if (traces_.size() != ranks_) {
      return error(traces_.front(), fmt::format("there are {} traces and {} GPUs", traces_.size(), ranks_),
                   "the traces of all ranks, or one that stands for all");
    }
    std::vector<bool> has(ranks_, false);
    for (std::size_t t = 0; t < traces_.size(); ++t) {
      const int rank = traces_[t].calls.rank;
      if (rank < 0 || std::cmp_greater_equal(rank, ranks_) || has[static_cast<std::size_t>(rank)]) {
        error(traces_[t], rank < 0 ? "the trace states no rank"
                                   : fmt::format("it is of rank {}, which is no rank, or has another trace", rank));
        continue;
      }
      has[static_cast<std::size_t>(rank)] = true;
      found_.ranks[static_cast<std::size_t>(rank)].trace = t;
    }
  }

  // Of a group whose size follows from its buffers, and whose ranks are not recorded.
  [[nodiscard]] Ranks neighbours(const KinetoTrace& trace, int size) {
    if (assumed_.emplace(trace.file, size).second) {
      found_.warnings.add(
          {.severity = Severity::kWarning,
           .code = "W628",
           .place = {.file = trace.file},
           .message = fmt::format("the ranks of a process group of {} are not recorded: neighbours are taken", size)});
    }
    const auto own = static_cast<std::uint32_t>(std::max(trace.calls.rank, 0));
    Ranks ranks(static_cast<std::size_t>(size));
    std::iota(ranks.begin(), ranks.end(), own / static_cast<std::uint32_t>(size) * static_cast<std::uint32_t>(size));
    return ranks;
  }

  // The ranks of a group as its trace states them; empty after a mistake.
  [[nodiscard]] Ranks stated(const KinetoTrace& trace, const CallGroup& group) {
    if (group.ranks.empty()) {
      if (group.size == 0 || std::cmp_equal(group.size, ranks_)) {
        Ranks all(ranks_);
        std::iota(all.begin(), all.end(), 0U);
        return all;
      }
      if (group.id.empty() && std::cmp_less(group.size, ranks_) && ranks_ % static_cast<std::size_t>(group.size) == 0) {
        return neighbours(trace, group.size);
      }
      error(trace, fmt::format("the ranks of process group '{}' are not recorded", group.id));
      return {};
    }
    Ranks ranks;
    for (const int rank : group.ranks) {
      if (rank < 0 || std::cmp_greater_equal(rank, ranks_)) {
        error(trace, fmt::format("process group '{}' has rank {}, and there are {} GPUs", group.id, rank, ranks_));
        return {};
      }
      ranks.push_back(static_cast<std::uint32_t>(rank));
    }
    return ranks;
  }

  [[nodiscard]] Ranks members(std::size_t t, std::size_t group, std::uint32_t rank) {
    const KinetoTrace& trace = traces_[t];
    Ranks ranks = stated(trace, trace.calls.groups[group]);
    if (ranks.empty() || traces_.size() > 1 || ranks_ == 1 || ranks.size() == ranks_) return ranks;
    Ranks other = repeated(ranks, rank, ranks_);
    if (other.empty()) {
      error(trace,
            fmt::format("process group '{}' of ranks {} is not evenly spaced over {} ranks, so that one trace does not "
                        "give the groups of the others",
                        trace.calls.groups[group].id, list_text(ranks), ranks_),
            "the traces of all ranks");
    }
    return other;
  }

  // Whether calls of the step are in it.
  [[nodiscard]] std::vector<bool> used_groups(std::size_t t) const {
    std::vector<bool> used(traces_[t].calls.groups.size(), false);
    for (const StepItem& item : steps_[t].items) {
      if (item.call) used[traces_[t].calls.calls[*item.call].group] = true;
    }
    return used;
  }

  void name_groups(std::uint32_t rank) {
    RankGroups& own = found_.ranks[rank];
    const std::vector<bool> used = used_groups(own.trace);
    own.names.resize(used.size());
    for (std::size_t group = 0; group < used.size(); ++group) {
      if (!used[group]) continue;
      Ranks ranks = members(own.trace, group, rank);
      if (ranks.empty()) return;
      const auto [at, fresh] = name_of_.try_emplace(ranks, "");
      if (fresh) at->second = add(traces_[own.trace].calls.groups[group].id, std::move(ranks));
      own.names[group] = at->second;
    }
  }

  // A name that no other group has.
  std::string add(const std::string& id, Ranks ranks) {
    ChakraGroups& groups = found_.groups;
    std::string name = id.empty() ? "group" : id;
    while (groups.by_name.contains(name)) name += fmt::format(".{}", ranks.front());
    groups.by_name.emplace(name, static_cast<std::uint32_t>(groups.groups.size()));
    groups.groups.push_back({.name = name, .ranks = std::move(ranks)});
    return name;
  }

  void find_members() {
    for (const RankGroups& rank : found_.ranks) {
      for (StepItem& item : steps_[rank.trace].items) {
        if (!item.call) continue;
        const std::string& name = rank.names[traces_[rank.trace].calls.calls[*item.call].group];
        item.members = found_.groups.groups[found_.groups.by_name.find(name)->second].ranks.size();
      }
    }
  }

  // Ranks call these with one size.
  [[nodiscard]] static bool has_one_size(const RecordedCall& call) {
    return call.operation == "all_reduce" || call.operation == "all_gather" || call.operation == "reduce_scatter";
  }

  // Of an all-to-all with uneven parts each rank has its own size.
  void join_sizes() {
    if (traces_.size() == 1) return;
    for (const ChakraGroup& group : found_.groups.groups) {
      std::vector<std::vector<StepItem*>> calls;
      for (const std::uint32_t rank : group.ranks) calls.push_back(calls_in(group.name, rank));
      for (std::size_t i = 1; i < calls.size(); ++i) {
        const auto same = [&](const StepItem* a, const StepItem* b) {
          return call_of(*a, group.ranks[0]).operation == call_of(*b, group.ranks[i]).operation;
        };
        if (std::ranges::equal(calls[0], calls[i], same)) continue;
        return error(traces_[found_.ranks[group.ranks[i]].trace],
                     fmt::format("ranks {} and {} of process group '{}' make different calls in the step: {} and {}",
                                 group.ranks[0], group.ranks[i], group.name, calls[0].size(), calls[i].size()),
                     "profile the same step on all ranks, and mark it: prof.step()");
      }
      for (std::size_t c = 0; c < calls[0].size(); ++c) {
        Bytes largest = calls[0][c]->bytes;
        for (std::size_t i = 1; i < calls.size(); ++i) {
          const Bytes own = calls[i][c]->bytes;
          const RecordedCall& call = call_of(*calls[i][c], group.ranks[i]);
          if (own != calls[0][c]->bytes && has_one_size(call)) {
            return error(traces_[found_.ranks[group.ranks[i]].trace],
                         fmt::format("call {} of process group '{}' in the step, {}, has {} bytes on rank {} and {} on "
                                     "rank {}",
                                     c + 1, group.name, call.operation, calls[0][c]->bytes.count(), group.ranks[0],
                                     own.count(), group.ranks[i]),
                         "profile the same step on all ranks, and mark it: prof.step()");
          }
          largest = std::max(largest, own);
        }
        for (const auto& of_rank : calls) of_rank[c]->bytes = largest;
      }
    }
  }

  [[nodiscard]] const RecordedCall& call_of(const StepItem& item, std::uint32_t rank) const {
    return traces_[found_.ranks[rank].trace].calls.calls[*item.call];
  }

  [[nodiscard]] std::vector<StepItem*> calls_in(const std::string& group, std::uint32_t rank) {
    const RankGroups& own = found_.ranks[rank];
    std::vector<StepItem*> calls;
    for (StepItem& item : steps_[own.trace].items) {
      if (item.call && own.names[call_of(item, rank).group] == group) calls.push_back(&item);
    }
    return calls;
  }

  std::set<std::pair<std::string, int>> assumed_;  // groups of neighbours, by trace and size
  const std::vector<KinetoTrace>& traces_;
  std::size_t ranks_;
  std::vector<StepWork>& steps_;
  std::map<Ranks, std::string> name_of_;
  JobGroups found_;
  Diagnostics problems_;
};

}  // namespace

Result<JobGroups> groups_of_ranks(const std::vector<KinetoTrace>& traces, std::size_t ranks,
                                  std::vector<StepWork>& steps) {
  return GroupFinder(traces, ranks, steps).find();
}

}  // namespace ringwright::traces
