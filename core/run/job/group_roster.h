// The members of a group that have joined: counts members of a call (or of a step that all wait for), class by class.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/run/job/played_job.h"

namespace ringwright {

class GroupRoster {
 public:
  explicit GroupRoster(const PlayedJob& job);

  // Ranks of this class are in groups made of the same classes: these, each once.
  [[nodiscard]] std::span<const ClassId> classes_of_group(ClassId rank_class, DimensionId dimension);
  // Counts all members of this class as having joined (sequence, step); true when the whole group has, and the count is
  // then closed.
  bool come(ClassId rank_class, DimensionId dimension, std::uint64_t sequence, int step);

 private:
  // Groups that are made of the same classes.
  struct GroupClass {
    std::vector<ClassId> members;
    int size = 0;
    struct Count {
      std::uint64_t sequence;
      int step;
      int arrived;
    };
    std::vector<Count> counts;
  };
  struct Seat {
    std::int32_t group_class = -1;  // not looked up yet
    int identical = 0;                  // members of the group that are of this class
  };

  [[nodiscard]] Seat& seat(ClassId c, DimensionId d) {
    return seats_[c.index() * job_.graph.dimensions.size() + d.index()];
  }
  GroupClass& group_class_of(ClassId c, DimensionId d);

  const PlayedJob& job_;
  std::vector<Seat> seats_;  // by class, by dimension
  std::deque<GroupClass> group_classes_;
};

}  // namespace ringwright
