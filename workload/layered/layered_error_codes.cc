// The codes of mistakes in a layer table: E540 to E543, E548, E549.
#include <array>

#include "workload/layered/layered_config.h"

namespace ringwright::workload {
namespace {

constexpr std::array kLayeredCodes = {
    ErrorCode{"E540", "a layer table without layers, or with too many",
              "A table has 1 to 10,000 layers, `count` included.",
              "layer_table: { global_batch: 256, layers: [{name: fc, k: 2048, n: 1000, inputs: 2048}] }"},
    ErrorCode{"E541", "a batch of samples that the ranks do not divide",
              "Every rank has the same number of samples: the ranks divide global_batch.",
              "layer_table: { global_batch: 1000 } on 16 GPUs   # write 992 or 1008"},
    ErrorCode{"E542", "a layer table beyond all machines",
              "The weights of a table, and what a rank saves of one row, are at most 100 PB, far more than any\n"
              "machine holds: sizes in bytes stay exact integers.",
              "layers: [{name: fc, k: 16777216, n: 16777216, count: 1000, inputs: 1}]   # a smaller layer"},
    ErrorCode{"E543", "a layer table that cannot stand where it does",
              "A scenario has one job: a transformer (model, training, parallel), a recorded step (workload), a\n"
              "recommendation model, or a layer table. Its GPUs are of one kind.",
              "layer_table: { preset: resnet50, global_batch: 2048 }   # without model, training and parallel"},
    ErrorCode{"E548", "parameter servers that the cluster has no hosts for",
              "Servers are whole hosts, the last ones of the job. Dedicated servers leave at least one host for\n"
              "workers.",
              "parameter_server: { servers: 4 } on 4 hosts   # write dedicated: false, or servers: 3"},
    ErrorCode{"E549", "parameter servers that cannot be simulated like this",
              "Workers and servers exchange messages of their own; NCCL's kernels do not carry them. Asynchronous and\n"
              "stale-synchronous workers have no common training step: `ringwright servers` simulates them.",
              "collectives: { model: chunks } with layer_table.parameter_server   # write model: steps"},
};

}  // namespace

std::span<const ErrorCode> layered_error_codes() {
  return kLayeredCodes;
}

}  // namespace ringwright::workload
