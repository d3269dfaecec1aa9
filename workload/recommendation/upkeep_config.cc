#include "workload/recommendation/upkeep_config.h"

#include <array>
#include <string>

#include "core/config/choice_of.h"

namespace ringwright::workload {
using namespace literals;

namespace {

constexpr std::array kCheckpoints = {
    Option{"full", "all rows each time"}, Option{"one_shot", "all rows once, then each time those that changed since"},
    Option{"consecutive", "all rows once, then each time those that changed since the last checkpoint"},
    Option{"intermittent", "as one_shot, but all rows again where that is expected to write less"}};
constexpr std::array kCheckpointValues = {TableCheckpoints::kFull, TableCheckpoints::kOneShot,
                                          TableCheckpoints::kConsecutive, TableCheckpoints::kIntermittent};

EmbeddingUpkeep usual_upkeep(std::int64_t weight_bits) {
  EmbeddingUpkeep upkeep;
  upkeep.bits = weight_bits;
  upkeep.interval = from_seconds(1800.0);
  upkeep.storage = 10_GBps;
  upkeep.time_between_failures = from_seconds(86400.0);
  upkeep.restart = from_seconds(300.0);
  upkeep.servers = 8;
  upkeep.server_bandwidth = Bandwidth(3.125e9);
  return upkeep;
}

void read_checkpoints(ConfigMap& own, EmbeddingUpkeep& upkeep) {
  upkeep.checkpoints = choice_of(
      own,
      {.name = "checkpoints", .doc = "which rows a checkpoint saves (Check-N-Run)", .fallback = std::string("full")},
      kCheckpoints, kCheckpointValues);
  upkeep.interval = own.duration(
      {.name = "interval", .doc = "between two checkpoints", .fallback = upkeep.interval, .min = from_seconds(1.0)});
  upkeep.bits = own.integer({.name = "bits",
                             .doc = "of a saved weight; fewer than those of embedding_precision: rows are quantised",
                             .fallback = upkeep.bits,
                             .min = 2,
                             .max = upkeep.bits});
  upkeep.storage = own.bandwidth(
      {.name = "storage", .doc = "of checkpoint storage, for all servers together", .fallback = upkeep.storage});
}

void read_failures(ConfigMap& own, EmbeddingUpkeep& upkeep) {
  upkeep.time_between_failures = own.duration({.name = "mtbf",
                                               .doc = "mean time between failures of any server",
                                               .fallback = upkeep.time_between_failures,
                                               .min = from_seconds(1.0)});
  upkeep.restart = own.duration({.name = "restart",
                                 .doc = "from a failure until training goes on, besides loading tables",
                                 .fallback = upkeep.restart,
                                 .min = Duration(0)});
  upkeep.servers = own.integer({.name = "servers",
                                .doc = "that hold the tables in equal parts",
                                .fallback = upkeep.servers,
                                .min = 1,
                                .max = 1'000'000});
  upkeep.portion_of_lost_samples = own.percent({.name = "pls",
                                                .doc = "portion of lost samples that partial recovery may have (CPR)",
                                                .fallback = upkeep.portion_of_lost_samples,
                                                .min = 1e-6,
                                                .max = 1.0});
  upkeep.data_servers = own.integer({.name = "data_servers",
                                     .doc = "of a group with erasure code (ECRec's k)",
                                     .fallback = upkeep.data_servers,
                                     .min = 1,
                                     .max = 1000});
  upkeep.parity_servers = own.integer({.name = "parity_servers",
                                       .doc = "of such a group (ECRec's r)",
                                       .fallback = upkeep.parity_servers,
                                       .min = 1,
                                       .max = 1000});
  upkeep.server_bandwidth = own.bandwidth(
      {.name = "server_bandwidth", .doc = "of a server's NIC, in one direction", .fallback = upkeep.server_bandwidth});
}

}  // namespace

EmbeddingUpkeep read_upkeep(ConfigMap& recommendation, std::int64_t weight_bits) {
  EmbeddingUpkeep upkeep = usual_upkeep(weight_bits);
  if (!recommendation.has("upkeep") && !recommendation.documenting()) return upkeep;
  ConfigMap own = recommendation.map("upkeep", "how tables are saved and restored (`ringwright embeddings`)");
  read_checkpoints(own, upkeep);
  read_failures(own, upkeep);
  return upkeep;
}

}  // namespace ringwright::workload
