// A recovery policy: what a job does once a fault is found and its hosts are known. One file and one row in
// policies/builtin_policies.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.h"
#include "core/config/config_map.h"
#include "planning/operation/operation.h"

namespace ringwright::planning {

// What a policy may look at.
struct JobView {
  const Operation& operation;
  std::span<const std::int64_t> empty;  // places without a host, those of this fault included
  std::int64_t lost = 0;                // hosts lost since the job ran last

  [[nodiscard]] const JobShape& shape() const { return operation.job; }
  // Replicas that have all their hosts.
  [[nodiscard]] std::int64_t whole_replicas() const;
};

// kVersion: back to the newest version that survived, which is loaded. kStep: the step in progress is done again.
// kLog: as kVersion, but only the lost hosts compute again, from logged messages. kCommit: back to the last step that
// is a multiple of `commit_every`. kNothing: only `again`.
enum class Loss { kVersion, kStep, kLog, kCommit, kNothing };

struct RecoveryPlan {
  JobTime stall;  // of the whole job, besides swapping hosts and loading
  Loss loss = Loss::kVersion;
  bool fills = true;              // the job waits until all places have hosts
  bool takes_spare = false;       // where it does not wait: hosts that are there take their places
  double replay_share = 1.0;      // of the lost work's time; kLog
  std::int64_t commit_every = 1;  // steps; kCommit
  JobTime again = {};             // of the whole job, for work that is done again; kNothing
  bool whole_restart = false;     // may fail, and is then done again
};

// How a host that stands in joins a job that went on without it.
struct Joining {
  JobTime after;  // while the job goes on
  JobTime stall;  // then all wait
};

class RecoveryPolicy {
 public:
  virtual ~RecoveryPolicy() = default;
  [[nodiscard]] virtual RecoveryPlan plan(const JobView& job, RandomStream& stream) const = 0;
  // Step time relative to a healthy job without this policy; empty: the job cannot run with these places empty.
  [[nodiscard]] virtual std::optional<double> slowdown(const JobView& /*job*/) const { return 1.0; }
  [[nodiscard]] virtual Joining joining(const JobView& /*job*/, RandomStream& /*stream*/) const { return {}; }
  // Whether the other hosts train on while a crash or hang is detected and diagnosed.
  [[nodiscard]] virtual bool goes_on_meanwhile() const { return false; }
  // Whether so many hosts that could join now improve anything.
  [[nodiscard]] virtual bool wants(const JobView& /*job*/, std::int64_t /*spare*/) const { return true; }
};

struct PolicyEntry {
  std::string_view name;
  std::string_view help;
  // From the policy's own map, `recovery.NAME`, which may be absent. `job` outlives the policy.
  std::unique_ptr<RecoveryPolicy> (*make)(ConfigMap map, const Operation& job);
  // Why it cannot be used; empty: it can.
  std::string (*refusal)(const Operation& job) = nullptr;
  bool copies_state = false;  // to those that join, in the time that `state` and `bandwidth` give
};

// Schedule, container, communicators and warm-up; loading is counted with the version.
[[nodiscard]] JobTime whole_restart(const Operation& operation, RandomStream& stream);
[[nodiscard]] JobTime init_communicators(const Operation& operation);
// "replicas: 1": a policy that needs more than one.
[[nodiscard]] std::string needs_replicas(const Operation& job);

}  // namespace ringwright::planning
