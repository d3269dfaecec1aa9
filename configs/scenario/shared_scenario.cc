#include "configs/scenario/shared_scenario.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "configs/scenario/gpu_sharing_settings.h"
#include "core/base/text.h"
#include "core/config/key_effect.h"

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
  if (job.job.layered && job.job.layered->layout.service.updates != workload::ServerUpdates::kSync) {
    problems.add({.code = "E549",
                  .place = entry.place,
                  .message = fmt::format("workers of the asynchronous parameter servers of job '{}' have no common "
                                         "training step",
                                         entry.name),
                  .hint = "updates: sync"});
  }
  if (job.job.parallel.offload.any() && entry.gpus_per_host != machine.cluster.host.gpus) {
    problems.add({.code = "E482",
                  .place = entry.place,
                  .message = fmt::format("job '{}' offloads to hosts of which it has {} of {} GPUs", entry.name,
                                         entry.gpus_per_host, machine.cluster.host.gpus)});
  }
}

// Jobs repeat one step, and those with an exchange differ from the others.
void note_local_sgd(Scenario& job) {
  const workload::LocalSgd& local = job.job.training.local_sgd;
  if (!local.on()) return;
  job.document.log().add(IgnoredKey{
      .path = "training.local_sgd",
      .origin = {},
      .why = fmt::format("{}steps with an exchange of parameters, one in {}, are not simulated for several jobs on one "
                         "machine: times are those of the other steps",
                         kInPart, local.every / local.fragments)});
}

// What compares jobs together with each alone, where they cannot meet.
void note_unshared_links(Scenario& machine) {
  if (machine.jobs.size() < 2) return;
  std::string why;
  if (!machine.simulate.network->shares_links) {
    why = fmt::format("in the network model '{}' transfers do not share links: jobs slow each other down on GPUs alone",
                      machine.simulate.network->name);
  } else if (machine.collectives.rung == collectives::Rung::kClosedForm) {
    why = "collectives of 'collectives.model: closed_form' share no links with other jobs; only messages (between "
          "pipeline stages, in rings of context parallelism, to host memory) do";
  } else {
    return;
  }
  const Place place = machine.document.root().place("jobs");
  machine.document.log().add(IgnoredKey{.path = "jobs",
                                        .origin = fmt::format("{}:{}", place.file, place.line),
                                        .why = std::string(kInPart) + why});
}

Result<Scenario> load_machine(const Source& source, const ScenarioOptions& options) {
  return source.text ? load_shared_machine_text(source.path, *source.text, options)
                     : load_shared_machine(source.path, options);
}

// A recorded time says nothing about the kernels on a part of the GPU.
void check_shared_gpus(const SharedScenario& shared, Diagnostics& problems) {
  const std::vector<JobEntry>& entries = shared.machine.jobs;
  const std::vector<std::size_t> first = first_tenants(entries);
  for (std::size_t j = 0; j < entries.size() && j < shared.jobs.size(); ++j) {
    const bool alone = std::ranges::count(first, first[j]) == 1 && entries[j].limits == TenantLimits();
    if (alone || !shared.jobs[j].job.trace) continue;
    problems.add({.code = std::string(kSharingCode),
                  .place = entries[j].place,
                  .message = fmt::format("job '{}' is a recorded step, whose kernels are not known, and it shares "
                                         "its GPUs",
                                         entries[j].name)});
  }
}

Result<SharedScenario> load_all(const Source& source, const ScenarioOptions& options) {
  auto machine = load_machine(source, options);
  if (!machine) return tl::unexpected(std::move(machine.error()));
  SharedScenario shared{.machine = std::move(*machine), .in_mig_mode = {}, .jobs = {}};
  note_unshared_links(shared.machine);
  if (shared.machine.gpu_sharing == SharingKind::kMig && share_gpus(shared.machine.jobs)) {
    ScenarioOptions without_peers = options;
    without_peers.overrides.emplace_back("comm.env.NCCL_P2P_DISABLE=1");
    auto in_mig_mode = load_machine(source, without_peers);
    if (!in_mig_mode) return tl::unexpected(std::move(in_mig_mode.error()));
    shared.in_mig_mode = std::move(*in_mig_mode);
  }
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
    note_local_sgd(*job);
    shared.jobs.push_back(std::move(*job));
  }
  if (!problems.has_errors()) check_shared_gpus(shared, problems);
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return shared;
}

}  // namespace

Diagnostics warnings_of(const SharedScenario& shared) {
  Diagnostics warnings = warnings_of(shared.machine);
  std::map<std::string, std::vector<std::string>> jobs_with;  // by what is rendered
  for (const Diagnostic& known : warnings.all()) jobs_with[render(known)];
  std::vector<Diagnostic> of_jobs;
  for (std::size_t j = 0; j < shared.jobs.size(); ++j) {
    const Diagnostics own = warnings_of(shared.jobs[j]);
    for (const Diagnostic& warning : own.all()) {
      const auto [at, is_new] = jobs_with.try_emplace(render(warning));
      if (is_new) of_jobs.push_back(warning);
      at->second.push_back(shared.machine.jobs[j].name);
    }
  }
  for (Diagnostic& warning : of_jobs) {
    const std::vector<std::string>& names = jobs_with[render(warning)];
    if (names.size() < shared.jobs.size()) {
      warning.message = fmt::format("job{} {}: {}", names.size() > 1 ? "s" : "", join(names, ", "), warning.message);
    }
    warnings.add(std::move(warning));
  }
  return warnings;
}

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
