// Reads the blocks of a scenario from its document.
#include "configs/scenario/scenario_reader.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "configs/scenario/collective_settings.h"
#include "configs/scenario/cost_settings.h"
#include "configs/scenario/dimension_rung.h"
#include "configs/scenario/fused_tensors.h"
#include "configs/scenario/gpu_sharing_settings.h"
#include "configs/scenario/mixed_compute.h"
#include "configs/scenario/published.h"
#include "configs/scenario/result_name.h"
#include "configs/scenario/rung_network.h"
#include "core/config/input_file.h"
#include "core/config/log_warnings.h"
#include "workload/layered/layered_step.h"
#include "workload/recommendation/recommendation_dimensions.h"

namespace ringwright::configs {
namespace {

// The dimensions whose collectives may have an algorithm of their own.
const std::vector<std::string>& dimension_names() {
  static const std::vector<std::string> kNames = {
      "tp", "cp", "cp_a2a", "cp_p2p",    "ep",     "ep_inner", "ep_outer",     "etp",          "edp",
      "dp", "pp", "mp",     "embedding", "mirror", "dp_shard", "dp_replicate", "dp_secondary", "dp_node",
      "dp_across", "mp_intra", "mp_cross"};
  return kNames;
}

template <class Entry>
std::vector<Option> options_of(std::span<const Entry> entries) {
  std::vector<Option> options;
  for (const Entry& entry : entries) options.push_back({.name = entry.name, .doc = entry.help});
  return options;
}

template <class Entry>
const Entry& find_entry(std::span<const Entry> entries, std::string_view name) {
  const auto found = std::ranges::find(entries, name, &Entry::name);
  return found == entries.end() ? entries.front() : *found;  // the name was refused before
}

}  // namespace

namespace {

void read_equal_hosts(ConfigMap& map, Cluster& cluster) {
  cluster.hosts = map.integer({.name = "nodes", .doc = "number of hosts (servers)", .fallback = 1, .min = 1,
                               .max = 1'000'000});
  ConfigMap node = map.map("node", "one host; `preset` names a shipped one");
  cluster.host = network_models::read_host(node);
  ConfigMap gpu = node.map("gpu", "the GPU of the host; `preset` names a shipped one");
  cluster.gpu = workload::read_gpu_spec(gpu);
}

// For the fabric: GPUs of groups without GPUDirect copy to host memory at less than the rate of their slot.
network_models::Host staged(network_models::Host host) {
  const auto copies = [](network_models::Host& kind) {
    if (!kind.gpudirect) kind.pcie.gpu_bandwidth = kind.pcie.gpu_bandwidth * kCopyShare;
  };
  copies(host);
  for (network_models::Host& other : host.others) copies(other);
  return host;
}

}  // namespace

Cluster read_cluster(ConfigMap root) {
  Cluster cluster;
  ConfigMap map = root.map(
      "cluster", "the machine: hosts, their components, and the fabric between them; `preset` names a shipped one");
  const bool listed = map.has("groups");
  if (listed || map.documenting()) read_host_groups(map, cluster);
  if (!listed) read_equal_hosts(map, cluster);

  ConfigMap fabric = map.map("fabric", "the network between hosts");
  const auto topologies = network_models::topologies();
  const Key<std::string> type{.name = "type", .doc = "shape of the network",
                              .fallback = std::string(cluster.hosts == 1 ? "single_node" : "rail_optimized")};
  cluster.fabric = fabric.choice(type, options_of(topologies));
  const network_models::Host host = staged(cluster.host);
  const network_models::TopologyRequest request{.host = host, .hosts = static_cast<int>(cluster.hosts)};
  if (fabric.documenting()) {
    for (const auto& entry : topologies) static_cast<void>(entry.read(fabric, request));
  }
  // Each takes about 6 KiB and 30 microseconds to build (scale-1m-h100).
  constexpr std::int64_t kMostGpus = 4'194'304;
  if (cluster.gpus() > kMostGpus) {
    map.error(listed ? "groups" : "nodes", "E106",
              fmt::format("'cluster.{}' = {} x {} GPUs = {} GPUs, and must be at most {}", listed ? "groups" : "nodes",
                          cluster.hosts, cluster.host.gpus, cluster.gpus(), kMostGpus));
    cluster.hosts = 1;
    cluster.host.kind_of_host.clear();
  }
  cluster.topology = find_entry(topologies, cluster.fabric).read(fabric, request);
  if (!fabric.origin("type").starts_with("preset:")) fabric.pass_over_presets();  // of a machine with another fabric
  cluster.switch_sums = network_models::read_switch_sums(fabric, cluster.host.nic.bandwidth);
  cluster.number_nic_sets();
  return cluster;
}

namespace {

struct UsualSteps {
  int measured = 1;
  int warmup = 0;
};
SimulateSettings read_simulate(ConfigMap root, const UsualSteps& usual = {}) {
  SimulateSettings settings;
  ConfigMap map = root.map("simulate", "what is simulated, and with which models");
  settings.steps = static_cast<int>(map.integer({.name = "steps",
                                                 .doc = "training steps that are measured",
                                                 .fallback = usual.measured,
                                                 .min = 1,
                                                 .max = 10'000}));
  settings.steps_at = map.place("steps");
  settings.warmup = static_cast<int>(map.integer({.name = "warmup",
                                                  .doc = "training steps simulated before those that are measured",
                                                  .fallback = usual.warmup,
                                                  .min = 0,
                                                  .max = 1'000}));
  settings.seed = static_cast<std::uint64_t>(
      map.integer({.name = "seed", .doc = "seed of all random streams", .fallback = 1, .min = 0, .max = INT64_MAX}));
  settings.fast_forward = map.boolean(
      {.name = "fast_forward",
       .doc = "skip what provably repeats: rounds of rings, calls of kernels, cycles of a pipeline, training steps",
       .fallback = true});
  if (settings.fast_forward || map.documenting()) {
    settings.cycle_tolerance = map.number(
        {.name = "cycle_tolerance",
         .doc = "cycles of a pipeline that come ever closer to a period without reaching it are left out of runs of "
                "more than a million events, where the step's time changes by at most this share; 0: equal cycles only",
         .fallback = settings.cycle_tolerance,
         .min = 0.0,
         .max = 0.01});
  } else {
    map.ignore("cycle_tolerance", "'simulate.fast_forward: false' simulates all cycles");
  }
  settings.allow_slow = map.boolean(
      {.name = "allow_slow",
       .doc = "run even if the estimate made beforehand exceeds 2 minutes or 16 GiB",
       .fallback = false});
  const std::vector<Option> models = options_of(network_models::models());
  const std::string network = map.choice(
      {.name = "network", .doc = "network model: the fidelity of the simulation", .fallback = std::string("flow")},
      models);
  settings.network = &find_entry(network_models::models(), network);
  if (map.documenting() || !settings.network->max_min) {
    settings.congestion = network_models::read_congestion_control(map);
  } else {
    map.ignore("congestion_control", "only 'simulate.network: dcqcn' has queues and rates of senders");
  }
  return settings;
}

AttentionFlops read_attention_flops(ConfigMap root) {
  static constexpr std::array kOptions = {
      Option{"causal", "half of the score matrix: what causal attention needs; Megatron-LM since 2024"},
      Option{"full", "the whole score matrix: most papers up to 2023"}};
  ConfigMap map = root.map("report", "how results are stated");
  const std::string count = map.choice(
      {.name = "attention_flops", .doc = "attention FLOPs that count in MFU", .fallback = std::string("causal")},
      kOptions);
  return count == "full" ? AttentionFlops::kFull : AttentionFlops::kCausal;
}

// Of collectives, which may have algorithms of their own.
std::vector<std::string> dimension_names_of(const Job& job) {
  if (job.trace) return dimension_names_of(*job.trace);
  if (job.layered) return workload::layered_dimensions(job.layered->layout);
  return job.recommendation ? workload::recommendation_dimensions() : dimension_names();
}

}  // namespace

SimulateSettings read_simulate_of(ConfigMap root, const Job& job) {
  if (!job.trains_transformer()) return read_simulate(root);
  // Until a pipeline that never runs empty is in its steady state.
  const int filling = workload::steps_until_steady(job.parallel.versions, job.parallel.pp,
                                                   static_cast<int>(job.parallel.microbatches(job.training)));
  return read_simulate(root, {.measured = std::max(1, filling), .warmup = filling});
}

namespace {

void read_header(ConfigMap root, std::string* name) {
  static_cast<void>(
      root.integer({.name = "version", .doc = "version of this format", .fallback = 1, .min = 1, .max = 1}));
  static_cast<void>(
      root.file({.name = "megatron",
                 .doc = "a run to take model, training and parallel from: of Megatron-LM a shell script, the arguments "
                        "that a log prints, or the YAML of a functional test; the configuration of Megatron-Bridge or "
                        "NeMo",
                 .fallback = std::string()}));
  *name = root.text({.name = "name", .doc = "name of the scenario in reports", .fallback = std::string("scenario")});
  check_result_name(root, *name);
}

// Its shape could not be derived (E120, E129).
bool fabric_is_wrong(const ConfigDocument& document) {
  return std::ranges::any_of(document.log().diagnostics().all(), [](const Diagnostic& problem) {
    return problem.code == "E120" || problem.code == "E129";
  });
}

// From the start and for good: they lie on no path, and no search of the library finds them.
void go_without_nics(Scenario& scenario) {
  const network_models::NicSets& sets = scenario.faults.lost_nics;
  scenario.cluster.host.nic_sets = sets;
  scenario.cluster.topology->leave_out_nics(sets);
  scenario.cluster.number_nic_sets();
  scenario.nccl.host.missing_nics = sets.missing;
}

// Blocks that describe jobs are read with each job.
Job read_job_of_machine(ConfigMap root, const Cluster& cluster) {
  for (const std::string_view block : job_blocks()) static_cast<void>(root.setting(block));
  Job job;
  job.compute = read_compute(root, cluster);
  return job;
}

std::vector<JobEntry> read_jobs_of(ConfigMap root, const Cluster& cluster, SharingKind sharing,
                                   const JobReading& reading) {
  std::vector<JobEntry> jobs = read_job_entries(root, cluster, sharing);
  if (!root.documenting() && jobs.empty() == reading.machine_only) {
    if (reading.machine_only) {
      root.error("", "E480", "the file lists no jobs", "jobs: [{name: a, gpus: 8}, {name: b, gpus: 8}]");
    } else if (reading.share == nullptr) {
      root.error("jobs", "E480", "'jobs' are several jobs on one machine, and this is about one",
                 "`ringwright jobs FILE` simulates them together");
    }
  }
  return jobs;
}

}  // namespace

Scenario::Scenario(ConfigDocument read) : document(std::move(read)) {}
Scenario::~Scenario() = default;
Scenario::Scenario(Scenario&& other) noexcept = default;
Scenario& Scenario::operator=(Scenario&& other) noexcept = default;

Diagnostics warnings_of(const Scenario& scenario) { return ringwright::warnings_of(scenario.document.log()); }

Scenario read_scenario(ConfigDocument document, const collectives::NcclFiles& files, Diagnostics& foreign,
                       const JobReading& reading) {
  Scenario scenario(std::move(document));
  ConfigMap root = scenario.document.root();
  read_header(root, &scenario.name);
  Cluster& cluster = scenario.cluster;
  cluster = read_cluster(root);
  scenario.interference = read_interference(root);
  const auto set = [&](workload::GpuSpec& gpu) {
    gpu.streaming_share = scenario.interference.streaming_share;
    gpu.loaded_latency = scenario.interference.loaded_latency;
  };
  set(cluster.gpu);
  for (HostGroup& group : cluster.groups) set(group.gpu);
  scenario.gpu_sharing = read_gpu_sharing(root, reading.machine_only || reading.share != nullptr);
  scenario.jobs = read_jobs_of(root, cluster, scenario.gpu_sharing, reading);
  scenario.job = reading.machine_only ? read_job_of_machine(root, cluster)
                                      : read_job(root, cluster, foreign, reading.share);
  ConfigMap collective_map = root.map("collectives", "which algorithms carry out collectives");
  const auto dimensions = dimension_names_of(scenario.job);
  const collectives::LibrarySettings library = read_library_of(root, cluster);
  read_collectives(root, read_chooser_settings(collective_map, dimensions, collectives::Rung::kSteps, library), files,
                   foreign, scenario);
  fuse_tensors(root, library, scenario.job);
  scenario.simulate = reading.machine_only ? read_simulate(root, {.measured = 4, .warmup = 1})
                                           : read_simulate_of(root, scenario.job);
  check_rung(root, scenario.collectives, *scenario.simulate.network);
  if (!fabric_is_wrong(scenario.document)) see_in_dimensions(root, scenario.simulate, scenario.cluster);
  check_server_rung(root, scenario);
  const network_models::ModelEntry& model = *scenario.simulate.network;
  scenario.faults = read_faults(root, {.topology = *cluster.topology,
                                       .model = model,
                                       .hosts = cluster.hosts,
                                       .nics = cluster.host.nic.count,
                                       .fabric = cluster.fabric,
                                       .host = &cluster.host,
                                       .fabric_is_wrong = fabric_is_wrong(scenario.document)});
  if (!scenario.faults.nics_to_plan_around.empty() && !scenario.collectives.in_steps()) {
    root.error("faults", "E124",
               "'failover: replan' plans the steps of all-reduces, and collectives.model simulates none",
               "failover: balance, or collectives.model: steps");
  }
  if (!scenario.faults.lost_nics.empty()) go_without_nics(scenario);
  scenario.background = read_background(root, cluster.gpus(), model);
  scenario.checkpoint = read_checkpoint(root, scenario, reading);
  scenario.data_pipeline = read_data_pipeline(root, scenario, reading);
  scenario.attention_flops = read_attention_flops(root);
  scenario.published = read_published(root);
  scenario.search = read_search(root);
  scenario.probing = read_probing(root);
  if (reading.machine_only || reading.share != nullptr) {
    if (root.has("cost")) root.ignore("cost", "steps of several jobs on one machine are not priced");
  } else {
    scenario.cost = read_cost(root, cluster);
  }
  scenario.what_ifs = read_what_ifs(root);
  if (reading.machine_only) check_tenancy(root, scenario);
  check_paths_to_memory(root, scenario);
  return scenario;
}

Scenario read_machine(ConfigDocument document, const collectives::NcclFiles& files, Diagnostics& foreign) {
  Scenario scenario(std::move(document));
  ConfigMap root = scenario.document.root();
  read_header(root, &scenario.name);
  scenario.cluster = read_cluster(root);
  scenario.job.compute = read_compute(root, scenario.cluster);
  ConfigMap collective_map = root.map("collectives", "which algorithms carry out collectives");
  const std::vector<std::string> dimensions = {std::string(kWorld)};
  const collectives::LibrarySettings library = read_library_of(root, scenario.cluster);
  read_collectives(root, read_chooser_settings(collective_map, dimensions, collectives::Rung::kChunks, library), files,
                   foreign, scenario);
  scenario.simulate = read_simulate(root);
  check_rung(root, scenario.collectives, *scenario.simulate.network);
  if (!fabric_is_wrong(scenario.document)) see_in_dimensions(root, scenario.simulate, scenario.cluster);
  return scenario;
}

}  // namespace ringwright::configs
