#include "configs/scenario/data_pipeline_settings.h"

#include <array>

#include <fmt/format.h>

#include "configs/scenario/scenario.h"
#include "configs/scenario/scenario_reader.h"

namespace ringwright::configs {
namespace {

using workload::DataPipeline;

constexpr const char* kNoWorkers = "E545";
constexpr const char* kNoNetwork = "E546";
constexpr const char* kTooSlow = "E547";
constexpr std::int64_t kMostWorkers = 10'000'000;
constexpr Bytes kLargestSample = Bytes(1'000'000'000'000);

Bytes optional_bytes(ConfigMap& map, std::string_view name, std::string_view doc) {
  if (!map.has(name) && !map.documenting()) return {};
  return map.bytes({.name = name, .doc = doc, .min = Bytes(1), .max = kLargestSample, .optional = true});
}

Bandwidth optional_rate(ConfigMap& map, std::string_view name, std::string_view doc) {
  if (!map.has(name) && !map.documenting()) return {};
  return map.bandwidth({.name = name, .doc = doc, .min = Bandwidth(1.0), .optional = true});
}

// False: what it needs is not given.
bool read_remote(ConfigMap& map, DataPipeline& pipeline) {
  pipeline.remote_workers =
      map.integer({.name = "remote_workers",
                   .doc = "CPU workers of the job on hosts without its GPUs, which send prepared samples",
                   .fallback = 0, .min = 0, .max = kMostWorkers});
  pipeline.elastic_workers =
      map.integer({.name = "elastic_workers",
                   .doc = "further remote workers that are added as long as steps wait for data (GoldMiner)",
                   .fallback = 0, .min = 0, .max = kMostWorkers});
  if (pipeline.remote_workers == 0 && pipeline.elastic_workers == 0 && !map.documenting()) {
    for (const std::string_view name : {"bytes_per_sample", "network"}) {
      map.ignore(name, "there are no remote workers ('remote_workers')");
    }
    return true;
  }
  pipeline.bytes_per_sample =
      optional_bytes(map, "bytes_per_sample", "of a prepared sample, as a remote worker sends it");
  pipeline.network = optional_rate(map, "network",
                                   "bandwidth per host for samples of remote workers; a separate network, whose "
                                   "traffic does not contend with training");
  if (map.documenting() || (pipeline.bytes_per_sample > Bytes() && pipeline.network > Bandwidth())) return true;
  map.error(map.has("remote_workers") ? "remote_workers" : "elastic_workers", kNoNetwork,
            "remote workers need the size of a prepared sample and a network",
            "data_pipeline: {remote_workers: 64, bytes_per_sample: 600kB, network: 25Gbps, ...}");
  return false;
}

void read_store(ConfigMap& map, DataPipeline& pipeline) {
  ConfigMap storage = map.map("storage", "the bandwidth at which samples are read; default: does not limit");
  const bool limits = storage.has("per_host") || storage.has("total");
  if (!map.documenting() && !limits) return map.ignore("stored_per_sample", "'storage' has no bandwidth");
  if (!map.documenting() && !map.has("stored_per_sample")) {
    return storage.ignore_rest("the bytes of a sample in storage are not given ('stored_per_sample')");
  }
  pipeline.stored_per_sample = optional_bytes(map, "stored_per_sample", "of a sample, as it is read from storage");
  pipeline.storage_per_host = optional_rate(storage, "per_host", "read by one host");
  pipeline.storage_total = optional_rate(storage, "total", "read by the whole job");
}

// Without slow batches a deeper queue changes nothing.
void read_queue(ConfigMap& map, DataPipeline& pipeline) {
  ConfigMap slow = map.map("slow_batches", "batches that take longer, as the first of a file or of a shard");
  if (!slow.has("every") && !map.documenting()) {
    slow.ignore_rest("'every' is not given");
    return map.ignore("prefetch", "all batches take as long ('slow_batches'), so that one ahead is enough");
  }
  constexpr std::int64_t kMost = 10'000;
  pipeline.slow_every =
      slow.integer({.name = "every", .doc = "of so many batches one takes longer", .min = 1, .max = kMost});
  pipeline.slow_factor =
      slow.number({.name = "factor", .doc = "times as long as the others", .min = 1.0, .max = 1e6});
  pipeline.prefetch = map.integer({.name = "prefetch",
                                   .doc = "batches that are prepared ahead (prefetch_factor x num_workers of "
                                          "PyTorch's DataLoader)",
                                   .fallback = 1,
                                   .min = 1,
                                   .max = kMost});
}

// Empty: what is given is not enough.
std::optional<DataPipeline> read_settings(ConfigMap& map) {
  DataPipeline pipeline;
  pipeline.cpu_per_sample =
      map.duration({.name = "cpu_per_sample",
                    .doc = "CPU time of one worker for a sample: reading, decoding, augmenting, collating",
                    .min = Duration(1'000)});
  pipeline.local_workers = map.integer({.name = "local_workers",
                                        .doc = "CPU workers on each host (num_workers of PyTorch's DataLoader times "
                                               "the processes of a host)",
                                        .fallback = 8, .min = 0, .max = kMostWorkers});
  const bool reached = read_remote(map, pipeline);
  read_store(map, pipeline);
  read_queue(map, pipeline);
  if (map.documenting() || !reached) return std::nullopt;
  if (!map.has("local_workers")) map.assume("local_workers", "8", "CPU workers on each host");
  if (pipeline.local_workers > 0 || pipeline.remote_workers > 0 || pipeline.elastic_workers > 0) return pipeline;
  map.error("local_workers", kNoWorkers, "nobody prepares samples: there are neither local nor remote workers",
            "data_pipeline: {cpu_per_sample: 8ms, local_workers: 16}");
  return std::nullopt;
}

void check_clock(ConfigMap& map, const DataPipeline& pipeline, const Scenario& scenario) {
  if (scenario.document.log().diagnostics().has_errors()) return;  // such as a rate of 0, reported already
  const std::int64_t steps = scenario.simulate.warmup + scenario.simulate.steps;
  DataPipeline grown = pipeline;
  grown.remote_workers += grown.elastic_workers;
  const Duration batch = batch_time(grown, training_hosts(scenario), samples_per_step(scenario));
  const double longest = pipeline.slow_every > 0 ? pipeline.slow_factor : 1.0;
  if (to_seconds(batch) * longest * static_cast<double>(steps) < 0.5 * to_seconds(kClockEnd)) return;
  map.error("cpu_per_sample", kTooSlow,
            fmt::format("a batch of {} samples takes {} to prepare, and {} of them more than the clock has",
                        samples_per_step(scenario), to_string(batch), steps),
            "more workers, or fewer simulate.steps");
}

constexpr std::array kDataPipelineCodes = {
    ErrorCode{.code = "E545",
              .title = "a data pipeline without workers",
              .explanation = "Samples are prepared by workers on the hosts of the job (`local_workers`) or on others "
                             "(`remote_workers`).",
              .example = "data_pipeline: {cpu_per_sample: 8ms, local_workers: 16}"},
    ErrorCode{.code = "E546",
              .title = "remote workers without a network",
              .explanation = "What remote workers prepare is sent to the hosts: `bytes_per_sample` over `network` of "
                             "each host.",
              .example = "data_pipeline: {cpu_per_sample: 8ms, remote_workers: 64, bytes_per_sample: 600kB, network: "
                         "25Gbps}"},
    ErrorCode{.code = "E547",
              .title = "batches that take longer than the clock",
              .explanation = "The simulated steps wait for their batches, and the clock ends after 106 days.",
              .example = "data_pipeline: {cpu_per_sample: 1h, local_workers: 1}   # for a batch of 4,096 samples"},
};

}  // namespace

std::optional<DataPipeline> read_data_pipeline(ConfigMap root, const Scenario& scenario, const JobReading& reading) {
  if (!root.has("data_pipeline") && !root.documenting()) return std::nullopt;
  ConfigMap map = root.map("data_pipeline", "workers that prepare the samples of every training step");
  if (!map.documenting() && (reading.share != nullptr || reading.machine_only)) {
    map.ignore_rest("the data of several jobs on one machine are always ready");
    return std::nullopt;
  }
  if (!map.documenting() && samples_per_step(scenario) == 0) {
    map.ignore_rest("a recorded step does not state how many samples it takes");
    return std::nullopt;
  }
  const std::optional<DataPipeline> pipeline = read_settings(map);
  if (pipeline) check_clock(map, *pipeline, scenario);
  return pipeline;
}

std::int64_t samples_per_step(const Scenario& scenario) {
  const Job& job = scenario.job;
  if (job.trace) return 0;
  if (job.recommendation) return job.recommendation->model.global_batch;
  if (job.layered) return job.layered->model.global_batch;
  return job.training.global_batch;
}

std::int64_t training_hosts(const Scenario& scenario) {
  const std::optional<LayeredJob>& layered = scenario.job.layered;
  const bool apart = layered && layered->layout.servers.dedicated;
  return scenario.cluster.hosts - (apart ? layered->layout.servers.count : 0);
}

std::span<const ErrorCode> data_pipeline_error_codes() {
  return kDataPipelineCodes;
}

}  // namespace ringwright::configs
