// The faults that may happen in one life of a job, by the calendar: the same for every recovery policy, so that
// policies are compared under the same bad luck (common random numbers).
//
// A candidate names a host that exists, in the job or not, and a class; whether it matters is decided when its time has
// come. Exponential classes are sampled as one process over all hosts at their highest hazard and thinned: a candidate
// counts if its `draw` is below hazard now / highest hazard. Every class has a stream of its own. Parts with ages fail
// one by one, each with a stream of its own.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "core/base/random.h"
#include "planning/operation/operation.h"

namespace ringwright::planning {

inline constexpr std::int64_t kNoHost = -1;

struct FaultCandidate {
  JobTime at = kNever;
  std::size_t component = 0;    // index of its class
  std::int64_t host = kNoHost;  // of classes of the whole job: none, unless the fault takes hosts; then any of the job
  std::int64_t part = 0;        // on the host, of parts with ages
  double draw = 0.0;
  std::uint64_t serial = 0;  // of streams that belong to this fault
};

// The hosts that exist, and which of them are lemons at the start.
class HostTable {
 public:
  HostTable(const Operation& operation, std::uint64_t life_seed);
  [[nodiscard]] std::int64_t size() const { return hosts_; }
  [[nodiscard]] const std::vector<std::int64_t>& lemons() const { return lemons_; }
  [[nodiscard]] const std::vector<std::int64_t>& others() const { return others_; }

 private:
  std::int64_t hosts_;
  std::vector<std::int64_t> lemons_;
  std::vector<std::int64_t> others_;
};

class FaultTimeline {
 public:
  // Both must outlive this.
  FaultTimeline(const Operation& operation, const HostTable& hosts, std::uint64_t life_seed);
  [[nodiscard]] const FaultCandidate& next() const { return nearest_; }
  void pop();

 private:
  struct PartFault {
    JobTime at;
    std::int64_t part;
    std::int64_t fault;  // of this part, from 0
    friend bool operator>(const PartFault& a, const PartFault& b) {
      return a.at != b.at ? a.at > b.at : a.part > b.part;
    }
  };
  struct ClassFaults {
    RandomStream stream;
    double highest_per_hour = 0.0;  // of the class, with every host at its highest hazard
    std::int64_t recorded = 0;      // of `times`
    std::priority_queue<PartFault, std::vector<PartFault>, std::greater<>> parts = {};
    FaultCandidate candidate = {};
    JobTime clock = {};
  };

  void start_class(std::size_t index);
  void draw_next(std::size_t index);
  void draw_exponential(ClassFaults& faults, const ComponentClass& part);
  void draw_part(ClassFaults& faults, const ComponentClass& part, std::size_t index);
  [[nodiscard]] JobTime lifetime(std::size_t index, std::int64_t part, std::int64_t fault) const;
  void find_nearest();

  const Operation& operation_;
  const HostTable& hosts_;
  std::uint64_t seed_;
  std::vector<ClassFaults> classes_;
  FaultCandidate nearest_;
};

}  // namespace ringwright::planning
