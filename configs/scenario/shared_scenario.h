// A machine with several jobs: the scenario of the machine, and one for each job with its part of the machine.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/scenario/scenario.h"

namespace ringwright::configs {

struct SharedScenario {
  Scenario machine;
  // The machine with its GPUs in MIG mode, without peer-to-peer paths, for jobs on instances of them.
  std::optional<Scenario> in_mig_mode;
  std::vector<Scenario> jobs;  // in the order of machine.jobs; only `job` and `name` matter
};

// The mistakes of the machine, or of all jobs.
[[nodiscard]] Result<SharedScenario> load_shared(const std::string& path, const ScenarioOptions& options = {});
// One entry of the list in the file at `path`: with other GPUs than the file says, for example.
[[nodiscard]] Result<Scenario> load_job_of(const std::string& path, const JobEntry& entry,
                                           const ScenarioOptions& options = {});
[[nodiscard]] Result<SharedScenario> load_shared_text(const std::string& name, std::string_view text,
                                                      const ScenarioOptions& options = {});

// Of the machine and of its jobs, with the names of those that it concerns; what concerns all of them once.
[[nodiscard]] Diagnostics warnings_of(const SharedScenario& shared);

}  // namespace ringwright::configs
