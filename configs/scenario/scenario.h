// A scenario: a user's request, read from YAML and checked; plain data, numbers with units, no strings to interpret.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/chooser.h"
#include "collectives/comm_settings.h"
#include "collectives/nccl/cost/selector.h"
#include "configs/scenario/background.h"
#include "configs/scenario/checkpoint_settings.h"
#include "configs/scenario/data_pipeline_settings.h"
#include "configs/scenario/faults.h"
#include "configs/scenario/host_groups.h"
#include "configs/scenario/interference_settings.h"
#include "configs/scenario/job_entries.h"
#include "configs/scenario/layered_job.h"
#include "configs/scenario/recommendation_job.h"
#include "configs/scenario/probing.h"
#include "configs/scenario/search_settings.h"
#include "configs/scenario/trace_job.h"
#include "configs/scenario/what_if.h"
#include "core/base/diagnostic.h"
#include "core/config/config_document.h"
#include "core/report/facts.h"
#include "network_models/builtin.h"
#include "network_models/host/host.h"
#include "network_models/topologies/switch_sums.h"
#include "workload/builtin.h"
#include "workload/gpu/gpu_spec.h"
#include "workload/memory/memory.h"
#include "workload/model/model_shape.h"
#include "workload/options/partition_options.h"
#include "workload/options/training_options.h"

namespace ringwright::configs {

struct SimulateSettings {
  int steps = 1;   // training steps that are measured
  Place steps_at;  // where the file sets them
  int warmup = 0;  // steps before them
  std::uint64_t seed = 1;
  bool allow_slow = false;   // also run what takes long, or much memory (run_cost.h)
  bool fast_forward = true;  // exact repetitions are not simulated again
  double cycle_tolerance = 1e-5;  // as NearlyEqualCycles::tolerance
  const network_models::ModelEntry* network = nullptr;
  network_models::CongestionSettings congestion;  // of a network that queues
};

struct Cluster {
  std::int64_t hosts = 1;
  network_models::Host host;
  std::string fabric;  // name of the topology
  std::unique_ptr<network_models::Topology> topology;
  workload::GpuSpec gpu;  // of the first group, where there are several
  network_models::SwitchSums switch_sums;
  std::vector<HostGroup> groups;     // in the order of their hosts, of kinds 0, 1, ...; empty: all are of one kind
  std::vector<int> nic_set_of_host;  // as in GroupLayout; empty: every host is of kind 0 and has all NICs

  [[nodiscard]] std::int64_t gpus() const { return hosts * host.gpus; }
  [[nodiscard]] bool mixed() const { return !host.kind_of_host.empty(); }
  [[nodiscard]] bool mixes_vendors() const;
  [[nodiscard]] const workload::GpuSpec& gpu_of_kind(int kind) const;
  [[nodiscard]] int kind_of_rank(RankId rank) const;
  // Of the first ranks; empty where all are of one kind.
  [[nodiscard]] std::vector<int> kind_of_ranks(std::size_t ranks) const;
  [[nodiscard]] Bandwidth slowest_memory() const;  // of GPUs of all kinds
  [[nodiscard]] std::string gpu_names() const;     // "A100", or "H100 and A100"
  // With the lowest compute capability: its kernels set the pace of a collective of all groups. Null without groups.
  [[nodiscard]] const HostGroup* oldest_group() const;
  // Once groups and NICs that are lost are known: fills nic_set_of_host.
  void number_nic_sets();
};

// The settings of a whole training step; a file that only describes a cluster has none. With `trace` the step is a
// recorded one, and model, training, parallel and memory are not set; with `recommendation` it is that of a
// recommendation model, with `layered` that of a layer table, and model, training and parallel are not set.
struct Job {
  workload::ModelShape model;
  workload::TrainingOptions training;
  workload::ParallelOptions parallel;
  workload::Partition partition;
  std::unique_ptr<ComputeModel> compute;
  workload::MemoryAssumptions memory;
  std::optional<TraceJob> trace;
  std::optional<RecommendationJob> recommendation;
  std::optional<LayeredJob> layered;

  [[nodiscard]] bool trains_transformer() const { return !trace && !recommendation && !layered; }
};

// Which attention FLOPs count as the model's own in MFU: half of the score matrix, which causal attention needs, or all
// of it, as in most papers up to 2023.
enum class AttentionFlops { kCausal, kFull };

struct Scenario {
  ConfigDocument document;  // for origins, evidence and assumptions
  std::string name;
  Cluster cluster;
  Job job;
  collectives::ChooserSettings collectives;
  collectives::CommSettings comm;  // where kernels of collectives count
  collectives::NcclSetup nccl;  // `comm`
  std::optional<collectives::NcclSetup> second_library;  // of the other vendor, where groups have GPUs of two
  SimulateSettings simulate;
  InterferenceSettings interference;
  SharingKind gpu_sharing = SharingKind::kNone;  // of jobs on the same GPUs
  AttentionFlops attention_flops = AttentionFlops::kCausal;
  std::vector<PublishedFigure> published;
  Faults faults;
  Background background;
  std::optional<CheckpointSettings> checkpoint;  // in every training step
  std::optional<workload::DataPipeline> data_pipeline;  // empty: data are always ready
  SearchSettings search;
  ProbingSettings probing;
  std::optional<CostRates> cost;
  std::vector<WhatIf> what_ifs;
  std::vector<JobEntry> jobs;  // of a machine with several (load_shared_machine); `job` then has only its `compute`

  // Special members are in the source file: otherwise each file that holds a scenario would compile those of all
  // members anew.
  explicit Scenario(ConfigDocument read);
  ~Scenario();
  Scenario(Scenario&& other) noexcept;
  Scenario& operator=(Scenario&& other) noexcept;
};

// The part of a machine that one of several jobs has.
struct JobShare {
  std::int64_t gpus = 0;
  int gpus_per_host = 0;
  std::string described;  // "jobs[0].gpus = 64"
};

struct KnownFiles;

struct ScenarioOptions {
  std::vector<std::string> overrides;      // "parallel.tp=4"
  std::vector<std::string> share_folders;  // presets; empty: the shipped ones
  // Null: the job has the whole cluster.
  const JobShare* share = nullptr;
  KnownFiles* known = nullptr;  // what was read from files before, if it is kept (known_files.h)
};

// All mistakes of the file at once. Warnings stay in the scenario's document log.
[[nodiscard]] Result<Scenario> load_scenario(const std::string& path, const ScenarioOptions& options = {});
// The same for a text in memory; `name` appears in messages, and files that it names are relative to it.
[[nodiscard]] Result<Scenario> load_scenario_text(const std::string& name, std::string_view text,
                                                  const ScenarioOptions& options = {});
// What loading found odd, keys without effect among it, for commands whose result does not list it.
[[nodiscard]] Diagnostics warnings_of(const Scenario& scenario);
// The dimension of a collective that is simulated alone: `collectives.world.algorithm` chooses for it.
inline constexpr std::string_view kWorld = "world";

// What a single collective needs: the machine, `collectives` and `simulate`; job.compute is set, the rest of the job is
// not. A file with a `model` is read and checked completely.
[[nodiscard]] Result<Scenario> load_machine(const std::string& path, const ScenarioOptions& options = {});
[[nodiscard]] Result<Scenario> load_machine_text(const std::string& name, std::string_view text,
                                                 const ScenarioOptions& options = {});
// A machine with its list of jobs, which must not be empty; of the jobs themselves nothing is read.
[[nodiscard]] Result<Scenario> load_shared_machine(const std::string& path, const ScenarioOptions& options = {});
[[nodiscard]] Result<Scenario> load_shared_machine_text(const std::string& name, std::string_view text,
                                                        const ScenarioOptions& options = {});
// Only the cluster; the rest of the file may be missing.
[[nodiscard]] Result<Cluster> load_cluster(const std::string& path, const ScenarioOptions& options = {});

// The scenario again with other values, from the tree that was read before: no file is read except those that readers
// open themselves. `base` must outlive it. Names of presets and of imported files cannot be changed here.
[[nodiscard]] Result<Scenario> changed_scenario(const Scenario& base, const ConfigChanges& changes,
                                                const ScenarioOptions& options = {});

// Only the job with other values, which is most of the difference between configurations of one machine, and its values
// in `simulate`. Fast: a search needs thousands. `base` must outlive it. `known`: findings of earlier jobs of this
// base, for the next ones; null: none.
struct ChangedJob {
  ConfigDocument document;  // its log has mistakes and no values
  Job job;
  SimulateSettings simulate;
};
[[nodiscard]] Result<ChangedJob> changed_job(const Scenario& base, const ConfigChanges& changes,
                                             workload::KnownLayouts* known = nullptr);

// The names that `list` and `run` know.
[[nodiscard]] LoadOptions load_options(const ScenarioOptions& options);

// Every key that a scenario may have, for `explain` and the schema.
[[nodiscard]] std::vector<KeyDoc> scenario_keys();

}  // namespace ringwright::configs
