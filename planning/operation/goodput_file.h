// A goodput file: the job, or the scenario that describes it, what happens to it, and the policies that are compared.
//
//     preset: llama3-h100
//     scenario: llama3-405b-16k-h100
//     duration: 54 d
//     checkpoint: { tiers: { storage: { every: daly, stall: 3 s, load: 60 s } } }
//     recovery: { policy: restart, compare: [hot_spare, replica_drop] }
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/config/config_document.h"
#include "planning/operation/operation.h"
#include "planning/operation/recovery_policy.h"
#include "planning/study/workers.h"

namespace ringwright::planning {

struct NamedPolicy {
  std::string name;
  std::string refusal;  // empty: it can be simulated
  std::unique_ptr<RecoveryPolicy> policy;
  bool copies_for_nothing = false;  // the state of a replica: neither its size nor a bandwidth is given
};

struct GoodputPlan {
  std::string name;
  std::string scenario;  // path; empty: none
  std::string fingerprint;
  std::unique_ptr<Operation> operation;  // policies point to it
  std::vector<NamedPolicy> policies;     // the chosen one first
  Diagnostics warnings;
};

// Of a goodput file, for `explain`; NAME stands for the name of a component, a checkpoint tier.
[[nodiscard]] std::vector<KeyDoc> goodput_keys();

// A path, or the name of a shipped goodput file. `settings` as --set takes them: keys of this file, or of the scenario.
// The scenario's steps are simulated here.
[[nodiscard]] Result<GoodputPlan> load_goodput(const std::string& path, const std::vector<std::string>& settings,
                                               const Workers& workers);
[[nodiscard]] Result<GoodputPlan> load_goodput_text(const std::string& name, std::string_view text,
                                                    const std::vector<std::string>& settings, const Workers& workers);

}  // namespace ringwright::planning
