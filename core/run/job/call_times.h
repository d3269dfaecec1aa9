// Times of collective calls, by dimension and call: from a rank's start of the call to its end there.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/base/inline_vector.h"
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
  [[nodiscard]] CallTime& time_of(const Call& call);

  std::vector<InlineVector<Running, 2>> running_;  // by class
  std::vector<std::vector<CallTime>> times_;       // by dimension, by spec; a count of 0: none
};

}  // namespace ringwright
