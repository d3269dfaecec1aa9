// Collective calls whose times are formulas: a call begins when the last class of its group has joined it, and ends for
// all of them a known time later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "core/ports/collective_time.h"
#include "core/run/job/job_groups.h"

namespace ringwright {

class TimedCalls {
 public:
  TimedCalls(const JobGroups& groups, const CollectiveTime& times)
      : groups_(groups), times_(times), seats_(groups.classes.count() * groups.graph.dimensions.size()) {}

  struct Member {
    ClassId rank_class;
    std::uint32_t task = 0;
  };
  struct Call {
    std::span<const Member> members;  // valid until the next one joins
    TimePoint begin;
    Duration time;
    Bytes sent;  // by each
  };
  // A class joins its next call of the dimension at that moment. The call, once all have joined it.
  [[nodiscard]] std::optional<Call> join(const Member& member, const Task& task, TimePoint at);
  // Whether members of one call have asked for different ones; their times are not found then.
  [[nodiscard]] bool differ() const { return differ_; }

 private:
  struct Open {
    std::vector<Member> members;
    TimePoint begin;
    std::uint32_t spec = 0;
  };
  // Groups made of the same classes.
  struct Group {
    std::size_t classes = 0;
    std::uint32_t first_open = 0;  // number of the first call in `calls`
    std::vector<Open> calls;
  };
  struct Seat {
    std::int32_t group = -1;   // not looked up yet
    std::uint32_t joined = 0;  // calls
  };
  struct Cost {
    Duration time;
    Bytes sent;
  };
  [[nodiscard]] Seat& seat(ClassId rank_class, DimensionId dimension) {
    return seats_[rank_class.index() * groups_.graph.dimensions.size() + dimension.index()];
  }
  [[nodiscard]] Group& group_of(ClassId rank_class, DimensionId dimension);
  [[nodiscard]] const Cost& cost_of(ClassId rank_class, const Task& task);

  JobGroups groups_;
  const CollectiveTime& times_;
  bool differ_ = false;
  std::vector<Seat> seats_;  // by class, by dimension
  std::vector<Group> found_;
  std::vector<Member> joined_;  // of the last call
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Cost> costs_;  // by spec, layout, dimension
};

}  // namespace ringwright
