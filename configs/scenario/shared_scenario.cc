#include "configs/scenario/shared_scenario.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

namespace ringwright::configs {
namespace {

struct Source {
  std::string path;                      // or name
  std::optional<std::string_view> text;  // of a file in memory
};

Result<Scenario> load_job(const Source& source, const JobEntry& entry, const ScenarioOptions& options) {
  const JobShare share{.gpus = entry.gpus,
                       .gpus_per_host = entry.gpus_per_host,
                       .described = fmt::format("gpus = {} of job '{}'", entry.gpus, entry.name)};
  ScenarioOptions own{.overrides = {}, .share_folders = options.share_folders, .share = &share};
  if (entry.scenario.empty()) own.overrides = options.overrides;
  own.overrides.insert(own.overrides.end(), entry.settings.begin(), entry.settings.end());
  if (!entry.scenario.empty()) return load_scenario(entry.scenario, own);
  return source.text ? load_scenario_text(source.path, *source.text, own) : load_scenario(source.path, own);
}

// Times of kernels, limits of memory and groups within a host are those of the machine.
void check_machine(const Scenario& machine, const Scenario& job, const JobEntry& entry, Diagnostics& problems) {
  const auto refuse = [&](const std::string& what, const std::string& own, const std::string& shared) {
    problems.add({.code = "E482",
                  .place = entry.place,
                  .message = fmt::format("the scenario of job '{}' is for {} {}, and the shared machine has {}",
                                         entry.name, what, own, shared)});
  };
  if (job.cluster.gpu.name != machine.cluster.gpu.name) {
    refuse("the GPU", job.cluster.gpu.name, machine.cluster.gpu.name);
  }
  if (job.job.parallel.offload.any() && entry.gpus_per_host != machine.cluster.host.gpus) {
    problems.add({.code = "E482",
                  .place = entry.place,
                  .message = fmt::format("job '{}' offloads to hosts of which it has {} of {} GPUs", entry.name,
                                         entry.gpus_per_host, machine.cluster.host.gpus)});
  }
}

Result<SharedScenario> load_all(const Source& source, const ScenarioOptions& options) {
  auto machine = source.text ? load_shared_machine_text(source.path, *source.text, options)
                             : load_shared_machine(source.path, options);
  if (!machine) return tl::unexpected(std::move(machine.error()));
  SharedScenario shared{.machine = std::move(*machine), .jobs = {}};
  Diagnostics problems;
  for (const JobEntry& entry : shared.machine.jobs) {
    auto job = load_job(source, entry, options);
    if (!job) {
      for (Diagnostic problem : job.error().all()) {
        problem.message = fmt::format("job '{}': {}", entry.name, problem.message);
        problems.add(std::move(problem));
      }
      continue;
    }
    check_machine(shared.machine, *job, entry, problems);
    shared.jobs.push_back(std::move(*job));
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return shared;
}

}  // namespace

Result<Scenario> load_job_of(const std::string& path, const JobEntry& entry, const ScenarioOptions& options) {
  return load_job({.path = path, .text = {}}, entry, options);
}

Result<SharedScenario> load_shared(const std::string& path, const ScenarioOptions& options) {
  return load_all({.path = path, .text = {}}, options);
}

Result<SharedScenario> load_shared_text(const std::string& name, std::string_view text,
                                        const ScenarioOptions& options) {
  return load_all({.path = name, .text = text}, options);
}

}  // namespace ringwright::configs
