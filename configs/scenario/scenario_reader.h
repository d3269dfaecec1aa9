// Reads the blocks of a scenario from its document; load_scenario.cc loads the files.
#pragma once

#include <string>

#include "collectives/nccl/settings.h"
#include "configs/scenario/scenario.h"
#include "core/base/diagnostic.h"
#include "core/config/config_document.h"
#include "workload/layout/known_layouts.h"

namespace ringwright::configs {

// Mistakes go into the document's log; those in other files that the scenario names go into `foreign`.
[[nodiscard]] Cluster read_cluster(ConfigMap root);
// What need not be found again, of jobs that were read before; null: not known.
struct KnownJob {
  workload::KnownLayouts* layouts = nullptr;
  const workload::ModelShape* model = nullptr;  // where nothing of `model` has changed
  const workload::MemoryAssumptions* memory = nullptr;
};
// `share`: as in ScenarioOptions.
[[nodiscard]] Job read_job(ConfigMap root, const Cluster& cluster, Diagnostics& foreign,
                           const JobShare* share = nullptr, const KnownJob& known = {});
[[nodiscard]] SimulateSettings read_simulate_of(ConfigMap root, const Job& job);
// What of a file with a list of jobs is read: `share`, one of them; `machine_only`, everything else.
struct JobReading {
  const JobShare* share = nullptr;
  bool machine_only = false;
};
[[nodiscard]] Scenario read_scenario(ConfigDocument document, const collectives::NcclFiles& files,
                                     Diagnostics& foreign, const JobReading& reading = {});
// A whole scenario from its file with its mistakes in the log, for callers that can use an incomplete one. Fails where
// the file cannot be read.
[[nodiscard]] Result<Scenario> read_scenario_with_errors(const std::string& path, const ScenarioOptions& options);
// A scenario without a job: what a single collective needs.
[[nodiscard]] Scenario read_machine(ConfigDocument document, const collectives::NcclFiles& files, Diagnostics& foreign);

}  // namespace ringwright::configs
