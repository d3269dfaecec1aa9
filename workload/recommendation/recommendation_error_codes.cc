// The codes of mistakes in a recommendation model: E550 to E553, W550, W551.
#include <array>

#include "workload/recommendation/recommendation_config.h"

namespace ringwright::workload {
namespace {

constexpr std::array kRecommendationCodes = {
    ErrorCode{"E550", "the sizes of a recommendation model contradict each other",
              "Dot products need tables and a bottom MLP that ends with vectors of one width; column_shards divides\n"
              "the columns of its table; there is at least one table, and one layer in each MLP.",
              "bottom_mlp: [512, 256, 64], tables: [{rows: 1000000, dim: 128}]   # write 128, or interaction: cat"},
    ErrorCode{"E551", "a batch of samples that is not divisible",
              "Every rank has the same number of samples: the ranks divide global_batch.",
              "recommendation: { global_batch: 1000 } on 16 GPUs   # write 992 or 1008"},
    ErrorCode{"E552", "a recommendation model that cannot stand where it does",
              "A scenario has one job: a transformer (model, training, parallel), a recorded step (workload), or a\n"
              "recommendation model. Its GPUs are of one kind.",
              "recommendation: { preset: mlperf-dlrm-dcnv2 }   # without model, training, parallel and workload"},
    ErrorCode{"E553", "too many embedding tables",
              "Tables, and parts of their columns, are placed one by one, up to 100,000.",
              "tables: [{count: 200000, rows: 100, dim: 8}]   # fewer with a higher pooling"},
    ErrorCode{"E554", "embedding tables that are not there, or not in host memory",
              "`ringwright embeddings` is about the tables of a recommendation model. A cache of rows needs hosts\n"
              "with memory, as cluster.node describes them.",
              "recommendation: { preset: dlrm-criteo, zipf: 1.05, cache: { rows: 1% } }"},
    ErrorCode{"W550", "tables that are placed unevenly",
              "The rank with the most lookups and pooled rows sets the pace of the others. An all-to-all of unequal\n"
              "parts takes as long as the largest rank's part, and is simulated with that size.",
              "sharding: auto   # splits the costliest tables by rows"},
    ErrorCode{"W551", "tables too narrow for parts of their columns",
              "Without column_shards, parts have at least 32 columns, as in TorchRec's planner; a narrower table\n"
              "stays whole.",
              "tables: [{rows: 1000000, dim: 32, sharding: column_wise, column_shards: 2}]"},
};

}  // namespace

std::span<const ErrorCode> recommendation_error_codes() {
  return kRecommendationCodes;
}

}  // namespace ringwright::workload
