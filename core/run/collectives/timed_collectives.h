// Simulates collectives as formulas: a call ends for all its members a given time after the last of them has joined, or
// later where kernels slow the thread blocks of one of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/ports/collective_time.h"
#include "core/run/collectives/joint_calls.h"
#include "core/run/job/collective_runner.h"
#include "core/run/job/played_job.h"

namespace ringwright {

class TimedCollectives final : public CollectiveRunner {
 public:
  TimedCollectives(PlayedJob& job, const CollectiveTime& times) : job_(job), times_(times), calls_(job) {}

  void start(const CollectiveRequest& request) override;
  [[nodiscard]] std::uint64_t state_digest() const override;
  [[nodiscard]] std::string waits_for(ClassId rank_class, std::uint32_t task) const override {
    return calls_.waits_for(rank_class, task);
  }

 private:
  struct Cost {
    Duration time;
    Bytes sent;
  };

  const Cost& cost_of(const CollectiveRequest& request);

  PlayedJob& job_;
  const CollectiveTime& times_;
  JointCalls calls_;
  std::vector<TimePoint> ends_at_;  // by slot of a call that has begun
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Cost> costs_;  // by spec, layout, dimension
};

}  // namespace ringwright
