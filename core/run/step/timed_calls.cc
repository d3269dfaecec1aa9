#include "core/run/step/timed_calls.h"

#include <algorithm>
#include <set>
#include <utility>

namespace ringwright {

// All of the same classes, as folding makes them.
TimedCalls::Group& TimedCalls::group_of(ClassId rank_class, DimensionId dimension) {
  const std::int32_t known = seat(rank_class, dimension).group;
  if (known >= 0) return found_[static_cast<std::size_t>(known)];
  std::set<ClassId> members;
  for (const RankId rank : groups_.group_of(rank_class, dimension)) {
    members.insert(groups_.classes.class_of[rank.index()]);
  }
  for (const ClassId member : members) seat(member, dimension).group = static_cast<std::int32_t>(found_.size());
  return found_.emplace_back(Group{.classes = members.size(), .calls = {}});
}

const TimedCalls::Cost& TimedCalls::cost_of(ClassId rank_class, const Task& task) {
  const std::uint32_t layout = groups_.layout_of(rank_class, task.dimension);
  const auto [entry, is_new] = costs_.try_emplace({task.detail, layout, task.dimension.value});
  if (!is_new) return entry->second;
  const CollectiveCall call = groups_.call_of(rank_class, task);
  return entry->second = {.time = times_.time(call), .sent = times_.sent(call)};
}

std::optional<TimedCalls::Call> TimedCalls::join(const Member& member, const Task& task, TimePoint at) {
  Group& group = group_of(member.rank_class, task.dimension);
  const std::uint32_t number = seat(member.rank_class, task.dimension).joined++ - group.first_open;
  if (number >= group.calls.size()) group.calls.resize(number + std::size_t{1});
  Open& call = group.calls[number];
  differ_ = differ_ || (!call.members.empty() && call.spec != task.detail);
  call.spec = task.detail;
  call.members.push_back(member);
  call.begin = std::max(call.begin, at);
  if (call.members.size() < group.classes) return std::nullopt;
  joined_ = std::move(call.members);
  const TimePoint begin = call.begin;
  // Each class joins in order, so that calls fill up in order.
  group.calls.erase(group.calls.begin());
  ++group.first_open;
  const Cost& cost = cost_of(member.rank_class, task);
  return Call{.members = joined_, .begin = begin, .time = cost.time, .sent = cost.sent};
}

}  // namespace ringwright
