#include "configs/scenario/checkpoint_settings.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "configs/scenario/scenario.h"
#include "configs/scenario/scenario_reader.h"
#include "workload/checkpoint/saved_state.h"

namespace ringwright::configs {
namespace {

using workload::CheckpointMode;
using workload::CheckpointPlace;
using workload::CheckpointTraffic;

constexpr const char* kUnfit = "E535";
constexpr const char* kNoSize = "E536";
constexpr const char* kNoRate = "E537";
constexpr const char* kSharesNothing = "W535";
// A rank's state is at most that of a model without layers spread over ranks; times stay far from the clock's end.
constexpr Bytes kMostBytes = Bytes(1'000'000'000'000'000);

constexpr std::array kPlaces{
    Option{"host_memory", "the memory of the local host"},
    Option{"peer_host", "the memory of the local host, and of other hosts over the NICs (GEMINI)"},
    Option{"storage", "a store outside the fabric of the job, with its own bandwidth"}};
constexpr std::array kModes{Option{"blocking", "the next step waits for it"},
                            Option{"async", "while the next step runs; it shares links equally"},
                            Option{"idle", "while the next step runs, with the bandwidth that training leaves"}};

CheckpointPlace place_of(const std::string& name) {
  if (name == "peer_host") return CheckpointPlace::kPeerHost;
  return name == "storage" ? CheckpointPlace::kStorage : CheckpointPlace::kHostMemory;
}

CheckpointMode mode_of(const std::string& name) {
  if (name == "async") return CheckpointMode::kAsync;
  return name == "idle" ? CheckpointMode::kIdle : CheckpointMode::kBlocking;
}

std::int64_t ranks_of(const Scenario& scenario) {
  const std::optional<TraceJob>& trace = scenario.job.trace;
  return trace ? static_cast<std::int64_t>(trace->graph.rank_count()) : scenario.cluster.gpus();
}

std::optional<Bytes> read_size(ConfigMap& map, const Scenario& scenario) {
  if (map.has("size") || map.documenting()) {
    return map.bytes({.name = "size",
                      .doc = "saved by one GPU; default: weights and optimizer state of the model, which the ranks of "
                             "a stage save in equal parts; those of the largest stage",
                      .min = Bytes(1),
                      .max = kMostBytes,
                      .optional = true});
  }
  if (!scenario.job.trains_transformer()) {
    map.error("", kNoSize, "the size of a checkpoint follows from a transformer, and this job is another one",
              "checkpoint: {size: 10GB}, of one GPU");
  }
  return std::nullopt;
}

void read_peers(ConfigMap& map, const Scenario& scenario, CheckpointTraffic& traffic) {
  traffic.copies = map.integer({.name = "copies",
                                .doc = "with to: peer_host, of each GPU's part, the one in its own host included",
                                .fallback = 2, .min = 2, .max = 64});
  traffic.jump = map.integer({.name = "jump",
                              .doc = "with to: peer_host, hosts between those that hold a part",
                              .fallback = 1, .min = 1, .max = 1'000'000});
  traffic.pieces = map.integer({.name = "pieces",
                                .doc = "with to: peer_host, in which a part is sent: one is copied to memory while the "
                                       "next one arrives",
                                .fallback = 16, .min = 1, .max = 1024});
  if (map.documenting()) return;
  const std::int64_t ranks = ranks_of(scenario);
  const std::int64_t hosts = ranks / traffic.host_ranks;
  if (ranks % traffic.host_ranks != 0) {
    map.error("to", kUnfit, fmt::format("{} ranks do not fill hosts of {} GPUs, so that some have no peer", ranks,
                                        traffic.host_ranks), "to: host_memory");
  } else if (traffic.jump * (traffic.copies - 1) >= hosts) {
    map.error(map.has("jump") ? "jump" : "copies", kUnfit,
              fmt::format("{} copies, {} host{} from each other, need more than {} hosts, and there {} {}",
                          traffic.copies, traffic.jump, traffic.jump == 1 ? "" : "s",
                          traffic.jump * (traffic.copies - 1), hosts == 1 ? "is" : "are", hosts),
              "checkpoint: {to: peer_host, copies: 2, jump: 1}, or to: host_memory");
  }
}

workload::SavePath read_storage(ConfigMap& map) {
  ConfigMap storage = map.map("storage", "with to: storage, the bandwidth of the store");
  const auto rate = [&](std::string_view name, std::string_view doc) {
    return storage.has(name) || storage.documenting()
               ? storage.bandwidth({.name = name, .doc = doc, .min = Bandwidth(1.0), .optional = true})
               : Bandwidth();
  };
  const workload::SavePath path{.serialise = rate("serialise", "serialised by the process of one GPU"),
                                .per_rank = rate("per_gpu", "written by the process of one GPU"),
                                .per_host = rate("per_host", "written by one host"),
                                .store = rate("total", "written by the whole job"),
                                .overhead = storage.duration(
                                    {.name = "overhead",
                                     .doc = "of a checkpoint besides its bytes: plan, metadata, commit",
                                     .fallback = Duration(),
                                     .min = Duration()})};
  const bool any = std::max({path.serialise, path.per_rank, path.per_host, path.store}) > Bandwidth();
  if (!map.documenting() && !any) {
    storage.error("", kNoRate, "a store needs the bandwidth of one GPU, of one host, or of the whole job",
                  "checkpoint: {to: storage, storage: {per_host: 5GB/s, total: 500GB/s}}");
  }
  return path;
}

void ignore_others(ConfigMap& map, CheckpointPlace to) {
  if (map.documenting()) return;
  if (to != CheckpointPlace::kPeerHost) {
    for (const std::string_view name : {"copies", "jump", "pieces"}) {
      map.ignore(name, "only a checkpoint 'to: peer_host' has copies on other hosts");
    }
  }
  if (to != CheckpointPlace::kStorage) map.ignore("storage", "only a checkpoint 'to: storage' is written there");
}

CheckpointSettings read_settings(ConfigMap& map, const Scenario& scenario) {
  CheckpointSettings settings;
  CheckpointTraffic& traffic = settings.traffic;
  traffic.host_ranks = scenario.cluster.host.gpus;
  traffic.to = place_of(map.choice(
      {.name = "to", .doc = "where it is stored", .fallback = std::string("host_memory")}, kPlaces));
  traffic.mode = mode_of(map.choice(
      {.name = "mode", .doc = "what training waits for", .fallback = std::string("blocking")}, kModes));
  settings.size = read_size(map, scenario);
  settings.share = map.percent({.name = "incremental",
                                .doc = "share of the state that a version saves; 100 %: all",
                                .fallback = 1.0,
                                .min = 1e-6,
                                .max = 1.0});
  settings.every = map.integer({.name = "every",
                                .doc = "training steps from one checkpoint to the next; the report states their mean "
                                       "step; 0: no mean, of the simulated step alone",
                                .fallback = 0,
                                .min = 0,
                                .max = 1'000'000'000});
  if (map.documenting() || traffic.to == CheckpointPlace::kPeerHost) read_peers(map, scenario, traffic);
  if (map.documenting() || traffic.to == CheckpointPlace::kStorage) settings.store = read_storage(map);
  ignore_others(map, traffic.to);
  if (map.documenting()) return settings;
  if (scenario.cluster.fabric == "graph") {
    map.error("to", kUnfit, "checkpoints need hosts as cluster.node describes them, not a fabric of type graph");
  }
  if (traffic.mode != CheckpointMode::kBlocking && scenario.collectives.rung == collectives::Rung::kClosedForm) {
    map.warn("mode", kSharesNothing,
             "formulas for collectives share no links: the checkpoint meets messages between ranks only",
             "collectives.model: auto");
  }
  return settings;
}

constexpr std::array kCodes = {
    ErrorCode{.code = "E535",
              .title = "a checkpoint that the cluster cannot hold",
              .explanation = "With 'to: peer_host' every host sends to `copies` - 1 others, `jump` hosts from each "
                             "other, and all hosts have\nthe same number of ranks. Copies go through the host memory "
                             "of cluster.node, which a fabric of type graph\ndoes not have.",
              .example = "cluster: {nodes: 1}\ncheckpoint: {to: peer_host}      # needs two hosts"},
    ErrorCode{.code = "E536",
              .title = "a checkpoint of unknown size",
              .explanation = "The size follows from a transformer's weights and optimizer state. For recorded traces "
                             "and recommendation models\n`size` states what one GPU saves.",
              .example = "workload: {...}\ncheckpoint: {to: host_memory, size: 12GB}"},
    ErrorCode{.code = "E537",
              .title = "a store without a bandwidth",
              .explanation = "A checkpoint 'to: storage' is written at the bandwidth of a host, or of the whole job, "
                             "whichever takes longer.",
              .example = "checkpoint: {to: storage, storage: {per_host: 5GB/s, total: 500GB/s}}"},
    ErrorCode{.code = "W535",
              .title = "a checkpoint that collectives do not meet",
              .explanation = "With 'collectives.model: closed_form' collectives are formulas that share no links. A "
                             "checkpoint that runs with\nthe step competes with messages of the pipeline only.",
              .example = "collectives: {model: auto}"},
    ErrorCode{.code = "W536",
              .title = "a checkpoint larger than the memory of a host",
              .explanation = "All copies that a host holds of its own GPUs' parts and of others', in one version, next "
                             "to its capacity.",
              .example = "checkpoint: {to: peer_host, copies: 4}   # four times the state of its GPUs"},
};

}  // namespace

std::optional<CheckpointSettings> read_checkpoint(ConfigMap root, const Scenario& scenario, const JobReading& reading) {
  if (!root.has("checkpoint") && !root.documenting()) return std::nullopt;
  ConfigMap map = root.map("checkpoint", "the transfers of one checkpoint, in every simulated training step");
  if (!map.documenting() && (reading.share != nullptr || reading.machine_only)) {
    map.ignore_rest("checkpoints of several jobs on one machine are not simulated");
    return std::nullopt;
  }
  if (!map.documenting() && !scenario.simulate.network->plays_faults) {
    map.ignore_rest(
        fmt::format("the network model '{}' does not simulate checkpoints", scenario.simulate.network->name));
    return std::nullopt;
  }
  const CheckpointSettings settings = read_settings(map, scenario);
  if (map.documenting()) return std::nullopt;
  return settings;
}

workload::SaveSize checkpoint_size(const Scenario& scenario) {
  const CheckpointSettings& settings = *scenario.checkpoint;
  const std::int64_t host_ranks = settings.traffic.host_ranks;
  if (settings.size) {
    const Bytes rank = workload::incremental(*settings.size, settings.share);
    return {.total = rank * ranks_of(scenario), .rank = rank, .ranks_per_host = host_ranks};
  }
  const Job& job = scenario.job;
  const workload::SavedState state =
      workload::saved_state({.shape = job.model, .training = job.training, .parallel = job.parallel});
  return {.total = workload::incremental(state.total, settings.share),
          .rank = workload::incremental(state.of_largest_rank, settings.share),
          .ranks_per_host = host_ranks};
}

CheckpointTraffic checkpoint_traffic(const Scenario& scenario) {
  const workload::SaveSize size = checkpoint_size(scenario);
  CheckpointTraffic traffic = scenario.checkpoint->traffic;
  traffic.of_rank = size.rank;
  traffic.write = workload::write_time(size, scenario.checkpoint->store);
  return traffic;
}

std::span<const ErrorCode> checkpoint_error_codes() {
  return kCodes;
}

}  // namespace ringwright::configs
