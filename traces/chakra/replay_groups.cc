#include "traces/chakra/replay_groups.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/record/activity_times.h"
#include "traces/chakra/message_groups.h"
#include "traces/chakra/rank_files.h"

namespace ringwright::traces {
namespace {

// Some of the dimensions that a job can have stay free for messages and for transfers within a host.
constexpr std::size_t kMostOverlaps = kMostActivityDimensions - 8;

// All ranks: no name, or "0" where no group is called so, as in ASTRA-sim.
bool means_all(std::string_view name, const ChakraGroups& groups) {
  return name.empty() || (name == "0" && !groups.by_name.contains(name));
}

// Distances between the ranks of a group.
std::vector<std::int64_t> shape_of(const std::vector<std::uint32_t>& ranks) {
  std::vector<std::int64_t> shape;
  for (const std::uint32_t rank : ranks) shape.push_back(std::int64_t{rank} - ranks.front());
  return shape;
}

// `--chakra PREFIX` writes the groups next to the traces.
std::string groups_hint(const std::string& prefix, std::string_view group) {
  const std::string written = prefix + ".groups.json";
  std::error_code ignored;
  if (std::filesystem::exists(written, ignored)) return "workload.groups: " + written;
  return fmt::format("workload.groups: FILE, with {{\"{}\": [0, 1, ...]}}", group);
}

std::string dimension_name(const std::string& group) {
  std::string name = "pg_";
  for (const char letter : group) {
    const bool plain =
        (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
    name += plain ? letter : '_';
  }
  return name;
}

// Dimensions in the making.
class DimensionPlan {
 public:
  explicit DimensionPlan(std::size_t ranks) : ranks_(ranks) {}

  // False when there are too many.
  [[nodiscard]] bool add(const ChakraGroup& group, ReplayGroups& to) {
    const auto shape = shape_of(group.ranks);
    for (const std::uint32_t dimension : by_shape_[shape]) {
      if (takes(dimension, group)) return put(dimension, group, to);
    }
    if (taken_.size() >= kMostOverlaps) return squeeze(group, to);
    const auto fresh = static_cast<std::uint32_t>(taken_.size());
    by_shape_[shape].push_back(fresh);
    taken_.emplace_back(ranks_, false);
    Dimension& dimension = to.dimensions.emplace_back();
    dimension.name = dimension_name(group.name);
    while (!names_.insert(dimension.name).second) dimension.name += "_";
    return put(fresh, group, to);
  }

  // Where there are many shapes, groups of several share a dimension.
  [[nodiscard]] bool squeeze(const ChakraGroup& group, ReplayGroups& to) {
    for (std::uint32_t dimension = 0; dimension < taken_.size(); ++dimension) {
      if (takes(dimension, group)) return put(dimension, group, to);
    }
    return false;
  }

  // Ranks that a dimension does not contain become groups of their own.
  void complete(ReplayGroups& to) const {
    for (std::size_t d = 0; d < taken_.size(); ++d) {
      for (std::size_t rank = 0; rank < ranks_; ++rank) {
        if (!taken_[d][rank]) to.dimensions[d].groups.push_back({RankId(rank)});
      }
      index_groups(to.dimensions[d], ranks_);
    }
  }

 private:
  [[nodiscard]] bool takes(std::uint32_t dimension, const ChakraGroup& group) const {
    return std::ranges::none_of(group.ranks, [&](std::uint32_t rank) { return taken_[dimension][rank]; });
  }
  bool put(std::uint32_t dimension, const ChakraGroup& group, ReplayGroups& to) {
    const auto index = static_cast<std::uint32_t>(to.dimensions[dimension].groups.size());
    std::vector<RankId>& members = to.dimensions[dimension].groups.emplace_back();
    for (const std::uint32_t rank : group.ranks) {
      taken_[dimension][rank] = true;
      members.emplace_back(rank);
    }
    to.by_name[group.name] = {
        .dimension = dimension, .index = index, .ranks = static_cast<std::uint32_t>(group.ranks.size())};
    return true;
  }

  std::size_t ranks_;
  std::map<std::vector<std::int64_t>, std::vector<std::uint32_t>> by_shape_;
  std::vector<std::vector<bool>> taken_;  // by dimension, by rank
  std::set<std::string> names_;
};

// By trace: the collectives of each group, in order, by the group's name.
using CallsByGroup = std::map<std::string_view, std::vector<const TraceCollective*>>;

class GroupReplay {
 public:
  GroupReplay(const ChakraJob& job, const ChakraGroups& groups, const std::vector<TraceCalls>& calls)
      : job_(job), groups_(groups), all_calls_(calls) {
    for (std::size_t t = 0; t < job.traces.size(); ++t) {
      CallsByGroup& by_group = calls_.emplace_back();
      for (const TraceCollective& call : calls[t].collectives) {
        const std::string_view name = job.traces[t].texts[call.group];
        by_group[means_all(name, groups) ? std::string_view() : name].push_back(&call);
      }
    }
  }

  [[nodiscard]] Result<ReplayGroups> build() {
    find_used();
    for (const ChakraGroup& group : used_) check_group(group);
    check_members();
    DimensionPlan plan(job_.ranks());
    ReplayGroups result;
    for (const ChakraGroup& group : used_) {
      if (group.ranks.size() < 2) {
        result.by_name[group.name] = {};
      } else if (!plan.add(group, result)) {
        error(fmt::format("one rank is a member of more than {} groups, and '{}' is one group more", kMostOverlaps,
                          group.name));
        break;
      }
    }
    if (problems_.has_errors()) return tl::unexpected(std::move(problems_));
    add_groups_of_messages(plan, result);
    plan.complete(result);
    if (const auto all = result.by_name.find(std::string_view()); all != result.by_name.end()) {
      if (job_.ranks() > 1) result.dimensions[all->second.dimension].name = "world";
      result.by_name["0"] = all->second;
    }
    return result;
  }

 private:
  void error(std::string message, std::string hint = {}) {
    if (problems_.error_count() >= 100) return;
    problems_.add(
        {.code = "E253", .place = {.file = job_.prefix}, .message = std::move(message), .hint = std::move(hint)});
  }

  // Where dimensions run out, messages pass among all ranks.
  void add_groups_of_messages(DimensionPlan& plan, ReplayGroups& result) {
    for (const ChakraGroup* group : groups_of_messages(job_, groups_, all_calls_)) {
      const bool used = result.by_name.contains(group->name);
      if (!used && !plan.add(*group, result)) continue;
      ReplayGroup& added = result.by_name[group->name];
      added.has_collectives = used;
      added.takes_messages = true;
    }
  }

  void find_used() {
    std::set<std::string_view> names;
    for (const CallsByGroup& by_group : calls_) {
      for (const auto& [name, calls] : by_group) names.insert(name);
    }
    if (names.contains("")) {
      ChakraGroup all{.name = "", .ranks = {}};
      for (std::size_t rank = 0; rank < job_.ranks(); ++rank) all.ranks.push_back(static_cast<std::uint32_t>(rank));
      used_.push_back(std::move(all));
    }
    for (const ChakraGroup& group : groups_.groups) {
      if (!group.name.empty() && names.contains(group.name)) used_.push_back(group);
    }
    for (const std::string_view name : names) {
      if (name.empty() || groups_.by_name.contains(name)) continue;
      error(fmt::format("collectives name the process group '{}', and there is no such group", name),
            groups_hint(job_.prefix, name));
    }
  }

  // All members call the same collectives of the group, in the same order.
  void check_group(const ChakraGroup& group) {
    const auto& first = calls_of_rank(group.ranks.front(), group.name);
    for (const std::uint32_t rank : group.ranks) {
      if (rank >= job_.ranks()) {
        return error(
            fmt::format("process group '{}' has rank {}, and the job has {} ranks", group.name, rank, job_.ranks()));
      }
      const auto& calls = calls_of_rank(rank, group.name);
      if (&calls == &first) continue;
      const auto [own, other] = std::ranges::mismatch(
          calls, first, [](const auto* a, const auto* b) { return a->kind == b->kind && a->size == b->size; });
      if (own == calls.end() && other == first.end()) continue;
      const std::string of = group.name.empty() ? "the group of all ranks" : "process group '" + group.name + "'";
      return error(fmt::format("rank {} and rank {} of {} call different collectives: call {} is {} and {}",
                               group.ranks.front(), rank, of, other - first.begin() + 1,
                               describe_call(other == first.end() ? nullptr : *other),
                               describe_call(own == calls.end() ? nullptr : *own)));
    }
  }

  static std::string describe_call(const TraceCollective* call) {
    if (call == nullptr) return "none";
    return fmt::format("{} of {} bytes", to_string(call->kind), call->size.count());
  }

  [[nodiscard]] const std::vector<const TraceCollective*>& calls_of_rank(std::uint32_t rank, std::string_view name) {
    if (rank >= job_.ranks()) return none_;
    const CallsByGroup& by_group = calls_[job_.trace_of[rank]];
    const auto found = by_group.find(name);
    return found == by_group.end() ? none_ : found->second;
  }

  void check_members() {
    std::map<std::string_view, std::set<std::uint32_t>> members;
    for (const ChakraGroup& group : used_) members[group.name].insert(group.ranks.begin(), group.ranks.end());
    for (std::uint32_t rank = 0; rank < job_.ranks(); ++rank) {
      for (const auto& [name, calls] : calls_[job_.trace_of[rank]]) {
        const auto found = members.find(name);
        if (found == members.end() || found->second.contains(rank)) continue;
        error(fmt::format("rank {} calls a collective of process group '{}', which has ranks {}", rank, name,
                          ranges_text(std::vector(found->second.begin(), found->second.end()))));
      }
    }
  }

  const ChakraJob& job_;
  const ChakraGroups& groups_;
  const std::vector<TraceCalls>& all_calls_;  // by trace
  std::vector<CallsByGroup> calls_;
  std::vector<ChakraGroup> used_;
  std::vector<const TraceCollective*> none_;
  Diagnostics problems_;
};

}  // namespace

std::optional<std::uint32_t> ReplayGroups::of_message(std::string_view name) const {
  const auto found = name.empty() ? by_name.end() : by_name.find(name);
  if (found == by_name.end() || !found->second.takes_messages) return std::nullopt;
  return found->second.dimension;
}

void ReplayGroups::keep_messages_out_of_collectives() {
  for (auto& [name, group] : by_name) group.takes_messages = group.takes_messages && !group.has_collectives;
}

Result<ReplayGroups> replay_groups(const ChakraJob& job, const ChakraGroups& groups,
                                   const std::vector<TraceCalls>& calls) {
  return GroupReplay(job, groups, calls).build();
}

}  // namespace ringwright::traces
