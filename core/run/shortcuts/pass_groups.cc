#include "core/run/shortcuts/pass_groups.h"

#include <algorithm>
#include <numeric>

namespace ringwright {
namespace {

// Sets of classes that grow together.
class JoinedClasses {
 public:
  explicit JoinedClasses(std::size_t classes) : parent_(classes) { std::iota(parent_.begin(), parent_.end(), 0U); }
  [[nodiscard]] std::uint32_t smallest(std::uint32_t c) {
    while (parent_[c] != c) c = parent_[c] = parent_[parent_[c]];
    return c;
  }
  void join(ClassId a, ClassId b) {
    const std::uint32_t of_a = smallest(a.value);
    const std::uint32_t of_b = smallest(b.value);
    parent_[std::max(of_a, of_b)] = std::min(of_a, of_b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

const std::vector<RankId>& group_of(const TaskGraph& graph, const RankClasses& classes, ClassId c,
                                    DimensionId dimension) {
  const Dimension& d = graph.dimensions[dimension.index()];
  return d.groups[d.group_of[classes.representative[c.index()].index()]];
}

}  // namespace

bool is_among_equals(const TaskGraph& graph, const RankClasses& classes, ClassId c, DimensionId dimension) {
  return std::ranges::all_of(group_of(graph, classes, c, dimension),
                             [&](RankId rank) { return classes.class_of[rank.index()] == c; });
}

PassGroups::PassGroups(const TaskGraph& graph, const RankClasses& classes) {
  std::map<std::set<DimensionId>, std::uint32_t> known;
  for (const Segment& segment : graph.segments) {
    std::set<DimensionId> dimensions;
    for (const Task& task : segment.tasks) {
      if (task.kind == TaskKind::kCollective) dimensions.insert(task.dimension);
    }
    const auto [entry, is_new] = known.try_emplace(dimensions, static_cast<std::uint32_t>(partitions_.size()));
    if (is_new) partitions_.push_back(connected_by(dimensions, graph, classes));
    partition_of_.push_back(entry->second);
  }
}

PassGroups::Partition PassGroups::connected_by(const std::set<DimensionId>& dimensions, const TaskGraph& graph,
                                               const RankClasses& classes) {
  JoinedClasses joined(classes.count());
  for (const DimensionId dimension : dimensions) {
    for (std::size_t c = 0; c < classes.count(); ++c) {
      for (const RankId rank : group_of(graph, classes, ClassId(c), dimension)) {
        joined.join(ClassId(c), classes.class_of[rank.index()]);
      }
    }
  }
  Partition partition;
  partition.group_of.resize(classes.count());
  for (std::uint32_t c = 0; c < classes.count(); ++c) {
    const std::uint32_t first = joined.smallest(c);  // itself, or an earlier class
    if (first == c) {
      partition.group_of[c] = static_cast<std::uint32_t>(partition.groups.size());
      partition.groups.emplace_back();
    } else {
      partition.group_of[c] = partition.group_of[first];
    }
    partition.groups[partition.group_of[c]].push_back(ClassId(c));
  }
  return partition;
}

}  // namespace ringwright
