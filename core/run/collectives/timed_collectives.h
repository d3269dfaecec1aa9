// Simulates collectives as formulas: a call ends for all its members a given time after the last of them has joined, or
// later where kernels slow the thread blocks of one of them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/ports/collective_time.h"
#include "core/run/job/collective_runner.h"
#include "core/run/job/group_roster.h"
#include "core/run/job/played_job.h"

namespace ringwright {

class TimedCollectives final : public CollectiveRunner, public CopyBlockListener {
 public:
  TimedCollectives(PlayedJob& job, const CollectiveTime& times);

  void start(const CollectiveRequest& request) override;
  void on_caught_up(std::uint64_t token) override;
  [[nodiscard]] std::uint64_t state_digest() const override;
  [[nodiscard]] std::string waits_for(ClassId rank_class, std::uint32_t task) const override;

 private:
  static constexpr TimePoint kNotYet{};  // members are still missing
  struct Call {
    CollectiveRequest request;
    TimePoint ends_at = kNotYet;
    bool active = false;
    double lag = 0.0;  // of the member's thread blocks when the call began
  };
  struct Cost {
    Duration time;
    Bytes sent;
  };

  [[nodiscard]] std::vector<std::uint32_t>& lane(const CollectiveRequest& request, ClassId c) {
    return lanes_[c.index() * job_.graph.dimensions.size() + request.dimension.index()];
  }
  std::uint32_t new_call(const CollectiveRequest& request);
  [[nodiscard]] std::uint32_t find(const CollectiveRequest& request, ClassId c);
  const Cost& cost_of(const CollectiveRequest& request);
  void begin(const CollectiveRequest& last);
  void end(std::uint32_t slot);
  void make_up(std::uint32_t slot);
  void await_slowest(std::uint32_t slot);

  PlayedJob& job_;
  const CollectiveTime& times_;
  GroupRoster roster_;
  std::deque<Call> calls_;  // slots, reused
  std::vector<std::uint32_t> free_calls_;
  std::vector<std::vector<std::uint32_t>> lanes_;  // by class, by dimension: slots of its active calls
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Cost> costs_;  // by spec, layout, dimension
};

}  // namespace ringwright
