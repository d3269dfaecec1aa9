#include "traces/chakra/replicas.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "traces/chakra/rank_files.h"

namespace ringwright::traces {
namespace {

constexpr std::size_t kMostNames = 12;

// "1: ranks 0-3; 3: ranks 0, 4"
std::string names_text(const ReplayGroups& groups) {
  std::string text;
  std::size_t listed = 0;
  for (const auto& [name, group] : groups.by_name) {
    if (name.empty() || group.ranks < 2 || !group.has_collectives) continue;
    if (++listed > kMostNames) return text + "; ...";
    std::vector<std::uint32_t> ranks;
    for (const RankId rank : groups.dimensions[group.dimension].groups[group.index]) ranks.push_back(rank.value);
    text += fmt::format("{}{}: ranks {}", text.empty() ? "" : "; ", name, ranges_text(ranks));
  }
  return text.empty() ? "none of two ranks or more" : text;
}

// The data-parallel groups: as (dimension, index of the group there).
using Members = std::set<std::pair<std::uint32_t, std::uint32_t>>;

class Replicas {
 public:
  Replicas(const RecordedStep& step, const ReplicaOptions& options) : step_(step), options_(options) {}

  [[nodiscard]] Diagnostics find() {
    for (const std::string& name : options_.data_parallel) {
      const auto found = step_.groups.by_name.find(name);
      if (found == step_.groups.by_name.end() || !found->second.has_collectives) {
        return failure("E626", fmt::format("no collective of the traces names a process group '{}'", name),
                       {.file = step_.job.prefix}, "process groups in use: " + names_text(step_.groups));
      }
      if (found->second.ranks < 2) {
        return failure("E626",
                       fmt::format("process group '{}' has a single rank, whose collectives move nothing", name),
                       {.file = step_.job.prefix}, "record a step of two ranks or more");
      }
      add(name, found->second);
    }
    if (options_.data_parallel.empty()) {
      for (const auto& [name, group] : step_.groups.by_name) {
        if (group.ranks > 1 && group.ranks == step_.job.ranks() && group.has_collectives) add(name, group);
      }
    }
    if (!grown_.empty()) return {};
    return failure("E626",
                   fmt::format("no process group has all {} recorded ranks: {} replicas would not communicate",
                               step_.job.ranks(), options_.count),
                   {.file = step_.job.prefix},
                   "workload.data_parallel_groups: the names of the groups that reduce gradients; in use: " +
                       names_text(step_.groups));
  }

  [[nodiscard]] Dimension grow(const Dimension& recorded, std::uint32_t index) const {
    Dimension all = recorded;
    for (std::uint32_t g = 0; g < recorded.groups.size(); ++g) {
      for (std::uint32_t replica = 1; replica < options_.count; ++replica) {
        std::vector<RankId>& members = grown_.contains({index, g}) ? all.groups[g] : all.groups.emplace_back();
        for (const RankId rank : recorded.groups[g]) members.emplace_back(rank.value + replica * step_.job.ranks());
      }
    }
    all.group_of.clear();
    all.index_in_group.clear();
    index_groups(all, step_.job.ranks() * options_.count);
    return all;
  }

  // A rank of more replicas owns less of the parameters, and its optimizer would take less time.
  [[nodiscard]] Diagnostics warnings() const {
    std::set<std::string_view> sharded;
    for (std::size_t t = 0; t < step_.calls.size(); ++t) {
      for (const TraceCollective& call : step_.calls[t].collectives) {
        const bool shards =
            call.kind == CollectiveKind::kReduceScatter || call.kind == CollectiveKind::kAllGather;
        const std::string_view group = step_.job.traces[t].texts[call.group];
        if (shards && names_.contains(group)) sharded.insert(to_string(call.kind));
      }
    }
    Diagnostics found;
    for (const std::string_view kind : sharded) {
      found.add({.code = "W626",
                 .place = {.file = step_.job.prefix},
                 .message = fmt::format("data-parallel groups {}: computing is as recorded, with shards of {} and not "
                                        "{} ranks",
                                        kind, step_.job.ranks(), step_.job.ranks() * options_.count)});
    }
    return found;
  }

 private:
  void add(const std::string& name, const ReplayGroup& group) {
    names_.insert(name);
    grown_.insert({group.dimension, group.index});
  }

  const RecordedStep& step_;
  const ReplicaOptions& options_;
  Members grown_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace

Result<Diagnostics> add_replicas(const RecordedStep& step, const ReplicaOptions& options, TaskGraph& graph) {
  if (options.count <= 1) return Diagnostics();
  Replicas replicas(step, options);
  if (Diagnostics problems = replicas.find(); problems.has_errors()) return tl::unexpected(std::move(problems));
  for (std::uint32_t d = 0; d < graph.dimensions.size(); ++d) {
    graph.dimensions[d] = replicas.grow(graph.dimensions[d], d);
  }
  const std::vector<ProgramId> recorded = graph.program_of;
  for (std::uint32_t replica = 1; replica < options.count; ++replica) {
    graph.program_of.insert(graph.program_of.end(), recorded.begin(), recorded.end());
  }
  return replicas.warnings();
}

}  // namespace ringwright::traces
