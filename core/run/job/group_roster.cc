#include "core/run/job/group_roster.h"

#include <algorithm>
#include <map>

namespace ringwright {

GroupRoster::GroupRoster(const PlayedJob& job)
    : job_(job), seats_(job.classes.count() * job.graph.dimensions.size()) {}

GroupRoster::GroupClass& GroupRoster::group_class_of(ClassId c, DimensionId d) {
  const std::int32_t known = seat(c, d).group_class;
  if (known >= 0) return group_classes_[static_cast<std::size_t>(known)];
  std::map<ClassId, int> count;
  for (const RankId rank : job_.group_of(c, d)) ++count[job_.classes.class_of[rank.index()]];
  group_classes_.emplace_back();
  GroupClass& group = group_classes_.back();
  group.size = static_cast<int>(job_.group_of(c, d).size());
  for (const auto& [member, identical] : count) {
    seat(member, d) = {.group_class = static_cast<std::int32_t>(group_classes_.size() - 1), .identical = identical};
    group.members.push_back(member);
  }
  return group;
}

std::span<const ClassId> GroupRoster::classes_of_group(ClassId rank_class, DimensionId dimension) {
  return group_class_of(rank_class, dimension).members;
}

bool GroupRoster::come(ClassId rank_class, DimensionId dimension, std::uint64_t sequence, int step) {
  GroupClass& group = group_class_of(rank_class, dimension);
  auto count = std::ranges::find_if(group.counts, [&](const GroupClass::Count& entry) {
    return entry.sequence == sequence && entry.step == step;
  });
  if (count == group.counts.end()) {
    group.counts.push_back({.sequence = sequence, .step = step, .arrived = 0});
    count = group.counts.end() - 1;
  }
  count->arrived += seat(rank_class, dimension).identical;
  if (count->arrived < group.size) return false;
  group.counts.erase(count);
  return true;
}

}  // namespace ringwright
