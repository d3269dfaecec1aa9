// What happens to a job in months: its machines, what fails, how that is found and repaired, what is saved. Plain data.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "planning/operation/spread.h"

namespace ringwright::planning {

struct JobShape {
  std::int64_t gpus = 0;
  std::int64_t gpus_per_host = 8;
  std::int64_t replicas = 1;  // data-parallel: each holds all of the model's state
  // Data-parallel ranks, where ZeRO or FSDP shard a replica's state over several of them; 0: as many as replicas.
  std::int64_t data_parallel = 0;
  std::int64_t tokens_per_step = 0;  // 0: not known
  std::string processed = "tokens";  // what they are: "samples", as the scenario says
  JobTime step;                      // of the job as it should be
  bool is_simulated = false;         // the step's time comes from the scenario

  [[nodiscard]] std::int64_t hosts() const { return (gpus + gpus_per_host - 1) / gpus_per_host; }
  // The last host's may be fewer than it has.
  [[nodiscard]] std::int64_t gpus_on(std::int64_t slot) const {
    return std::clamp<std::int64_t>(gpus - slot * gpus_per_host, 0, gpus_per_host);
  }
  // What a layout made anew can leave out, with the state from a checkpoint.
  [[nodiscard]] std::int64_t units() const { return data_parallel > 0 ? data_parallel : replicas; }
  // GPUs are a multiple of replicas.
  [[nodiscard]] std::int64_t gpus_per_replica() const { return std::max<std::int64_t>(1, gpus / replicas); }
  // Replicas smaller than a host share it.
  [[nodiscard]] std::int64_t hosts_per_replica() const {
    return (gpus_per_replica() + gpus_per_host - 1) / gpus_per_host;
  }
  // Whether every host belongs to one replica, or holds whole ones.
  [[nodiscard]] bool hosts_are_whole() const {
    return gpus_per_replica() % gpus_per_host == 0 || gpus_per_host % gpus_per_replica() == 0;
  }
  // Of a layout made anew over so many hosts.
  [[nodiscard]] std::int64_t replicas_on(std::int64_t left) const {
    return std::min(units(), left * gpus_per_host / std::max<std::int64_t>(1, gpus / units()));
  }
};

// What the job notices of a fault: it stops; it stops and says nothing; it goes on slower; or with wrong numbers.
enum class FaultKind { kCrash, kHang, kSlow, kCorruption };
inline constexpr int kFaultKinds = 4;
inline constexpr std::array<std::string_view, kFaultKinds> kFaultKindNames{"crash", "hang", "slow", "corruption"};
[[nodiscard]] constexpr std::string_view name_of(FaultKind kind) {
  return kFaultKindNames[static_cast<std::size_t>(kind)];
}

enum class Exposed { kGpu, kHost, kJob };

// Hosts that fail more often than others of the same class, until a repair succeeds.
struct Lemons {
  double share = 0.0;   // of the hosts
  double factor = 1.0;  // of their hazard
};

// A component class: equal parts with one failure process. The parts of an exponential class fail by `per_hour`; others
// have ages, and a lifetime begins with the job and after each fault of the part.
struct ComponentClass {
  std::string name;
  Exposed per = Exposed::kGpu;
  double per_hour = 0.0;           // of one part; exponential classes
  std::optional<Spread> lifetime;  // other classes
  std::vector<JobTime> times;      // of recorded faults, rising; no process then
  FaultKind kind = FaultKind::kCrash;
  std::int64_t hosts = 1;        // neighbours that a fault takes out; 0: none, processes restart where they are
  double slowdown = 1.0;         // of the step, by a slow part
  std::vector<JobTime> stalls;   // of checkpoints meanwhile, by tier; empty: as of the healthy step
  Spread lasts;                  // a slow part that nobody evicts
  bool evicts = true;            // a slow part's host is replaced once it is found
  double found = 1.0;            // share of corruptions that are ever detected
  std::optional<Spread> detect;  // instead of the time of its kind
  std::optional<Spread> repair;  // of its hosts, instead of the usual one
  // Of the hazard by place: `place_hosts` neighbouring hosts have the first, the next ones the second, and so on, again
  // and again. Empty: everywhere the same.
  std::vector<double> place_factors;
  std::int64_t place_hosts = 1;
  double early_factor = 1.0;  // hazard until `early_until`, relative to later
  JobTime early_until;

  [[nodiscard]] double factor_at(std::int64_t host) const {
    if (place_factors.empty()) return 1.0;
    return place_factors[static_cast<std::size_t>(host / place_hosts) % place_factors.size()];
  }
  [[nodiscard]] double highest_factor() const;
  // Whether it fails more often on some hosts (Lemons): not parts with ages or recorded faults.
  [[nodiscard]] bool has_lemons() const { return per != Exposed::kJob && !lifetime && times.empty(); }
};

struct Restart {
  Spread schedule;  // the scheduler finds hosts and starts the job
  Spread container;
  double init_base = 0.0;      // seconds
  double init_per_rank = 0.0;  // seconds; times ranks^exponent
  double init_exponent = 1.0;
  Spread warmup;
  double succeeds = 1.0;  // otherwise the whole restart is done again

  // Initialising the communicators of so many ranks, in seconds.
  [[nodiscard]] double init_seconds(std::int64_t ranks) const;
};

struct Diagnosis {
  Spread time;
  double finds = 1.0;         // share of faults whose host is found and removed
  double blames_wrong = 0.0;  // share of those that name a healthy host instead
  bool swaps_missed = false;  // a faulty host that nobody names leaves the job and stands by, as it is
};

struct RepairStage {
  Spread time;
  double fails = 0.0;  // silently: the host returns as it was
};

// Hosts that can stand in.
struct Spares {
  bool unlimited = true;          // none of the numbers below holds then
  std::int64_t standby = 0;       // warm: ready to join
  std::int64_t pool = 0;          // idle, and must be selected first
  std::int64_t others = 0;        // busy with other jobs, taken one by one
  Spread swap;                    // of hosts with standby ones, in parallel
  Spread select;                  // refills the standby hosts too
  bool reselects = false;         // a selection chooses all hosts anew, those without a fault for longest first
  bool fills_standby = false;     // preempted hosts fill the places of warm ones too
  Spread preempt;                 // each
  std::int64_t retire_after = 0;  // faults of one host `retire_within`; 0: never
  JobTime retire_within;
};

struct Repair {
  RepairStage first;
  double escalates = 0.0;  // share that goes on to the second stage
  RepairStage second;
};

// kHost: memory or drive of the host itself, lost with it. kPeers: memory of the host and of others. kStorage: a store
// that survives all hosts and holds all versions.
enum class CheckpointPlace { kHost, kPeers, kStorage };
enum class Placement { kGroup, kRing, kMixed };
enum class IntervalRule { kGiven, kYoung, kDaly, kBest };

struct CheckpointTier {
  std::string name;
  CheckpointPlace place = CheckpointPlace::kStorage;
  IntervalRule rule = IntervalRule::kGiven;
  std::int64_t every_steps = 0;  // 0: `every` seconds, rounded to steps
  double every = 0.0;
  JobTime stall;  // of training, per checkpoint
  JobTime write;  // until the version counts, from the end of the stall
  JobTime load;
  std::int64_t copies = 2;  // in peers' memory, the own one included; with parity: the hosts of a group
  std::int64_t parity = 0;  // parts of each stripe over a group's hosts that are parity; 0: copies
  Placement placement = Placement::kGroup;
  std::int64_t jump = 1;         // hosts between the copies of a group
  bool outlives_process = true;  // a process besides the training process holds the version
  std::optional<Bytes> held;     // of one host's memory; versions in memory whose size is known
};

struct Planned {
  std::optional<Spread> every;
  Spread takes;
};

// Whether faults happen by the calendar, or only while the job computes.
enum class FaultClock { kWall, kRunning };

struct RunLength {
  std::optional<JobTime> duration;  // by the calendar
  std::optional<JobTime> work;      // healthy training time, however long it takes
};

struct Operation {
  JobShape job;
  RunLength length;
  FaultClock clock = FaultClock::kWall;
  std::vector<ComponentClass> components;
  Lemons lemons;
  Spread detection[kFaultKinds];
  Diagnosis diagnosis;
  Restart restart;
  Spares spares;
  Repair repair;
  std::vector<CheckpointTier> tiers;
  Planned planned;
  double usd_per_gpu_hour = 0.0;
  std::uint64_t seed = 1;
  int repetitions = 30;

  // Faults per hour of the job with hosts of usual hazard, lemons included.
  [[nodiscard]] double faults_per_hour() const;
  [[nodiscard]] double faults_per_hour(const ComponentClass& part) const;
  // Those of them that a recovery follows: not slow parts that stay or that end before they are found (by means), nor
  // corruptions that nobody detects.
  [[nodiscard]] double recoveries_per_hour() const;
  [[nodiscard]] const Spread& detection_of(const ComponentClass& part) const {
    return part.detect ? *part.detect : detection[static_cast<int>(part.kind)];
  }
};

}  // namespace ringwright::planning
