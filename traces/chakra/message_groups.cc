#include "traces/chakra/message_groups.h"

#include <cstdint>
#include <string>

namespace ringwright::traces {
namespace {

struct NamedGroup {
  bool is_named = false;
  bool has_all = true;        // both ranks of each message that names it
  std::vector<bool> members;  // by rank
};

class NamedGroups {
 public:
  NamedGroups(const ChakraJob& job, const ChakraGroups& groups)
      : job_(job), groups_(groups), named_(groups.groups.size()) {}

  void add(std::uint32_t rank, const TraceCalls& calls, const ChakraTrace& trace) {
    for (const std::vector<TraceMessage>* messages : {&calls.sends, &calls.receives}) {
      for (const TraceMessage& message : *messages) add(rank, message, trace.texts[message.group]);
    }
  }

  [[nodiscard]] std::vector<const ChakraGroup*> fitting() const {
    std::vector<const ChakraGroup*> found;
    for (std::size_t g = 0; g < named_.size(); ++g) {
      const ChakraGroup& group = groups_.groups[g];
      if (named_[g].is_named && named_[g].has_all && group.ranks.size() > 1) found.push_back(&group);
    }
    return found;
  }

 private:
  void add(std::uint32_t rank, const TraceMessage& message, const std::string& name) {
    const auto found = name.empty() ? groups_.by_name.end() : groups_.by_name.find(name);
    if (found == groups_.by_name.end()) return;
    NamedGroup& named = named_[found->second];
    if (!named.is_named) open(groups_.groups[found->second], named);
    named.has_all = named.has_all && contains(named, rank) && contains(named, message.peer);
  }

  void open(const ChakraGroup& group, NamedGroup& named) const {
    named.is_named = true;
    named.members.assign(job_.ranks(), false);
    for (const std::uint32_t rank : group.ranks) {
      named.has_all = named.has_all && rank < job_.ranks();
      if (named.has_all) named.members[rank] = true;
    }
  }

  [[nodiscard]] static bool contains(const NamedGroup& named, std::int64_t rank) {
    return rank >= 0 && rank < static_cast<std::int64_t>(named.members.size()) &&
           named.members[static_cast<std::size_t>(rank)];
  }

  const ChakraJob& job_;
  const ChakraGroups& groups_;
  std::vector<NamedGroup> named_;  // by group
};

}  // namespace

std::vector<const ChakraGroup*> groups_of_messages(const ChakraJob& job, const ChakraGroups& groups,
                                                   const std::vector<TraceCalls>& calls) {
  NamedGroups named(job, groups);
  for (std::uint32_t rank = 0; rank < job.ranks(); ++rank) {
    named.add(rank, calls[job.trace_of[rank]], job.of(rank));
  }
  return named.fitting();
}

}  // namespace ringwright::traces
