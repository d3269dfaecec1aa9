// Times of collective calls, by dimension and call: from a rank's start of the call to its end there.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/record/run_record.h"

namespace ringwright {

class CallTimes {
 public:
  explicit CallTimes(std::size_t classes) : running_(classes) {}

  // `spec`: index into TaskGraph::collectives.
  struct Call {
    DimensionId dimension;
    std::uint32_t spec = 0;
  };
  void begin(ClassId rank_class, std::uint32_t task, const Call& call, TimePoint now);
  // No effect for a task that did not begin here.
  void end(ClassId rank_class, std::uint32_t task, TimePoint now);
  // Adds calls that were timed elsewhere, each `times` times.
  void add(const std::vector<CallTime>& calls, std::uint64_t times = 1);
  // In the order of dimensions and specs.
  [[nodiscard]] std::vector<CallTime> take() const;

 private:
  struct Running {
    std::uint32_t task = 0;
    Call call;
    TimePoint since;
  };
  std::vector<std::vector<Running>> running_;  // by class
  std::map<std::pair<DimensionId, std::uint32_t>, CallTime> times_;
};

}  // namespace ringwright
