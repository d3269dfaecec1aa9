// One life of a job: training, faults, recoveries, from the start to its end. The clock is whole nanoseconds, and every
// one of them goes to one account.
//
//   train -> fault -> detect -> diagnose -> (wait for hosts) -> restart, load -> train
//
// A fault during recovery starts the recovery anew with detection; what the first one lost stays lost. Faults of hosts
// outside the job have no effect: a host is checked before it joins. During planned stops nothing fails.
#pragma once

#include <cstdint>
#include <vector>

#include "planning/operation/accounts.h"
#include "planning/operation/fault_timeline.h"
#include "planning/operation/fleet.h"
#include "planning/operation/operation.h"
#include "planning/operation/progress.h"
#include "planning/operation/recovery_policy.h"

namespace ringwright::planning {

struct LifeResult {
  Accounts accounts;
  JobTime wall;
  std::int64_t steps = 0;
  bool finished = true;              // the work is done, where a life is as long as its work
  std::vector<std::int64_t> faults;  // by class: those that hit the job
  std::vector<JobTime> lost;         // by class: recovery, replay, and what steps take longer with a slow part
  std::int64_t recoveries = 0;
  std::int64_t in_recovery = 0;  // faults that hit while the job recovered from another
  std::int64_t from_start = 0;   // no version was left
  std::int64_t waits = 0;        // for hosts: recoveries that found too few
  std::int64_t undetected = 0;   // corruptions that nobody ever found
  std::int64_t selections = 0;   // of hosts from the pool
  std::int64_t retired = 0;
  std::int64_t planned = 0;
  double paid_gpu_hours = 0.0;

  [[nodiscard]] std::int64_t all_faults() const;
};

class JobLife {
 public:
  // Both outlive this.
  JobLife(const Operation& operation, const RecoveryPolicy& policy, std::uint64_t life_seed);
  [[nodiscard]] LifeResult live();

 private:
  enum class PhaseEnd { kDone, kFault, kOver };
  struct Fault {
    std::size_t component = 0;
    std::int64_t host = kNoHost;
    std::uint64_t serial = 0;
    bool is_known = false;  // found while the job went on
  };
  struct SlowPart {
    Fault fault;
    JobTime found_at = kNever;
    JobTime ends_at = kNever;
  };
  struct Corruption {
    Fault fault;
    std::int64_t step = 0;  // the last good one
    JobTime found_at = kNever;
  };
  struct Pending {
    JobTime planned_at = kNever;
    JobTime join_at = kNever;
    JobTime join_stall;
    Corruption corruption;
    Fault interrupting;           // the fault that ended a phase
    std::int64_t missed_host = kNoHost;  // slow, and still in the job after a recovery
    std::int64_t lost_hosts = 0;  // since the job ran last
  };
  struct LostCopies {
    std::vector<std::int64_t> slots;
    JobTime at;
  };

  [[nodiscard]] const ComponentClass& component(const Fault& fault) const;
  [[nodiscard]] RandomStream stream_of(const Fault& fault, std::string_view what) const;
  [[nodiscard]] JobView view() const;
  [[nodiscard]] JobTime end() const;
  // The hosts of the job that the fault takes out.
  [[nodiscard]] std::vector<std::int64_t> victims(const Fault& fault) const;

  // At the pace of the slowest part; null: none is slow.
  void train(JobTime until, const SlowPart* slowest);
  void spend(JobTime time, Account account);
  // From here on; the slowest part.
  const SlowPart* set_speed();
  void set_stalls();
  void charge(const SlowPart& slowest, JobTime degraded);
  [[nodiscard]] JobTime next_event() const;
  void handle_events();
  void take_candidate();
  [[nodiscard]] bool is_hit(const FaultCandidate& candidate) const;
  // Of its host, by the job: the last host may have more.
  [[nodiscard]] std::int64_t gpus_used(const FaultCandidate& candidate) const;
  // Faults of the whole job that take hosts hit any of its places.
  [[nodiscard]] Fault fault_of(const FaultCandidate& candidate) const;
  void begin_slow(const Fault& fault);
  void begin_corruption(const Fault& fault);
  void handle_slow_parts();
  void recover_from_slow(SlowPart part);
  void stop_as_planned();
  void schedule_join();
  void join();

  [[nodiscard]] PhaseEnd phase(JobTime length, Account account, const Fault& cause);
  [[nodiscard]] PhaseEnd recover_once(const Fault& fault, std::vector<Fault>& open);
  [[nodiscard]] PhaseEnd fill_places(const Fault& fault);
  [[nodiscard]] PhaseEnd restore(const Fault& fault, const RecoveryPlan& plan, RandomStream& stream);
  void recover(Fault fault);
  void lose_copies(const Fault& fault);
  void remove_hosts(const Fault& fault);
  struct Version {
    std::int64_t step = 0;
    JobTime load;
  };
  [[nodiscard]] Version newest_version(const Fault& fault) const;

  const Operation& operation_;
  const RecoveryPolicy& policy_;
  std::uint64_t seed_;
  HostTable hosts_;
  FaultTimeline faults_;
  Fleet fleet_;
  Progress progress_;
  JobTime now_;
  Pending pending_;
  std::vector<SlowPart> slow_;
  std::vector<LostCopies> lost_copies_;  // by tier
  LifeResult result_;
};

}  // namespace ringwright::planning
