// Several jobs on one fabric: each job's step together with the others against alone on the same GPUs, the links that
// jobs contend for, and placements compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "configs/scenario/shared_scenario.h"
#include "configs/simulation/shared_run.h"
#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "planning/study/workers.h"

namespace ringwright::planning {

struct SharedJob {
  std::string name;
  std::string placement;
  std::string gpus_of;  // the job whose GPUs it shares; empty: it has its own
  std::int64_t gpus = 0;
  std::size_t hosts = 0;
  std::size_t units = 0;  // hosts on the same leaf switches
  std::int64_t tokens_per_step = 0;  // 0: of a recorded step
  std::string processed = "tokens";  // what they are, or "samples"
  Bytes in_host_memory;  // of a GPU's process, because it does not fit together with the others
  configs::SharedJobFigures together;
  configs::SharedJobFigures alone;  // the same steps, on the same GPUs, whole and without the other jobs

  [[nodiscard]] double slowdown() const { return ratio(together.step.mean, alone.step.mean); }
};

// Links with the traffic of several jobs: of equal ones the first.
struct ContendedLink {
  std::string name;
  std::size_t links = 1;            // with equal loads between nodes of the same kinds
  std::vector<double> alone;        // by job: mean share of the capacity that it takes alone
  double together = 0.0;            // mean share that all take together
};

struct Arrangement {
  std::string placement;  // "as given", or the policy of all jobs that list no hosts
  std::string code;       // of the first mistake, where it cannot be simulated
  std::string reason;
  std::vector<SharedJob> jobs;
  std::vector<ContendedLink> links;  // the most loaded ones
  std::size_t contended_links = 0;   // all of them
  std::uint64_t events = 0;

  [[nodiscard]] bool was_simulated() const { return reason.empty(); }
};

struct SharingResult {
  std::string scenario;
  std::int64_t hosts = 0;
  std::int64_t gpus = 0;
  std::string gpu_sharing;             // how jobs on the same GPUs share them; empty: none do
  std::vector<std::string> too_large;  // jobs that do not fit into the memory of their GPUs
  std::vector<std::string> notes;      // disturbances of the machine that no job can notice, in the first arrangement
  std::vector<Arrangement> arrangements;
};

enum class Placements : std::uint8_t { kAsGiven, kAll };

struct SharingOptions {
  Placements placements = Placements::kAsGiven;
  configs::FoldMode fold = configs::FoldMode::kFold;
  Workers workers = {};
};

[[nodiscard]] SharingResult share_machine(const configs::SharedScenario& shared, const SharingOptions& options = {});

[[nodiscard]] std::string render_sharing_text(const SharingResult& result);
// Schema "ringwright.jobs/1" (docs/jobs.md).
[[nodiscard]] std::string render_sharing_json(const SharingResult& result);

}  // namespace ringwright::planning
