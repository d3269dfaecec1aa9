#include "workload/options/tensor_overlap.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "workload/options/training_options.h"

namespace ringwright::workload {
namespace {

constexpr std::array kOverlapMethods{
    Option{"transformer_engine", "GEMMs in chunks: inputs travel around a ring, results are scattered chunk by chunk"},
    Option{"flux", "one kernel whose tiles wait for their part of the input, or store results into the memory of the "
                   "rank that sums them (Flux, arXiv 2406.06858)"}};

constexpr std::string_view kDetails[] = {"tp_comm_overlap_method",     "tp_comm_overlap_tiles",
                                         "tp_comm_overlap_ag",         "tp_comm_overlap_rs",
                                         "tp_comm_overlap_rs_dgrad",   "tp_comm_overlap_num_splits",
                                         "tp_comm_overlap_user_buffers"};

void refuse(ConfigMap& parallel, const std::string& why, const std::string& remedy) {
  parallel.error("tp_comm_overlap", "E147", fmt::format("{} {}", parallel.path_of("tp_comm_overlap"), why), remedy);
}

void read_method(ConfigMap& parallel, const ParallelContext& context, TensorOverlap& overlap) {
  const bool flux = parallel.choice({.name = "tp_comm_overlap_method",
                                     .doc = "tp_comm_overlap: how a GEMM and its exchange are interleaved",
                                     .fallback = "transformer_engine"},
                                    kOverlapMethods) == "flux";
  overlap.tiles = static_cast<int>(
      parallel.integer({.name = "tp_comm_overlap_tiles",
                        .doc = "tp_comm_overlap_method flux: parts of each rank's share of an activation that are "
                               "signalled separately; a GEMM of few waves waits for several parts",
                        .fallback = 2,
                        .min = 1,
                        .max = 64}));
  if (flux) {
    overlap.method = OverlapMethod::kFlux;
    overlap.sms = context.world.sms;
  }
  const std::string_view other = flux ? "tp_comm_overlap_num_splits" : "tp_comm_overlap_tiles";
  if (!overlap.on || !parallel.has(other)) return;
  parallel.warn(other, "W131",
                fmt::format("{} has no effect: it is a setting of tp_comm_overlap_method {}", parallel.path_of(other),
                            flux ? "transformer_engine" : "flux"));
}

}  // namespace

void read_tensor_overlap(ConfigMap& parallel, const ParallelContext& context, ParallelOptions& options) {
  TensorOverlap& overlap = options.tensor_overlap;
  overlap.on = parallel.boolean({.name = "tp_comm_overlap",
                                 .doc = "tensor-parallel communication overlaps its GEMMs in pieces, as in "
                                        "Transformer Engine with user buffers",
                                 .fallback = false});
  read_method(parallel, context, overlap);
  overlap.gather =
      parallel.boolean({.name = "tp_comm_overlap_ag",
                        .doc = "tp_comm_overlap: inputs travel around a ring while GEMMs run on the parts that have "
                               "arrived",
                        .fallback = true});
  overlap.scatter = parallel.boolean(
      {.name = "tp_comm_overlap_rs", .doc = "tp_comm_overlap: results are scattered in chunks", .fallback = true});
  overlap.scatter_gradients =
      parallel.boolean({.name = "tp_comm_overlap_rs_dgrad",
                        .doc = "tp_comm_overlap: input gradients are scattered in chunks, not concurrently with the "
                               "wgrad GEMM",
                        .fallback = false});
  overlap.chunks = static_cast<int>(
      parallel.integer({.name = "tp_comm_overlap_num_splits",
                        .doc = "tp_comm_overlap: number of chunks of scattered results, as Transformer Engine's "
                               "num_splits; limited to divisors of a rank's rows",
                        .fallback = 4,
                        .min = 1,
                        .max = 64}));
  overlap.user_buffers =
      parallel.boolean({.name = "tp_comm_overlap_user_buffers",
                        .doc = "tp_comm_overlap: each GEMM has a buffer as large as an activation; without, parts are "
                               "read in place (PyTorch's symmetric memory)",
                        .fallback = true});
  if (!overlap.on) {
    for (const std::string_view key : kDetails) {
      if (!parallel.has(key)) continue;
      parallel.warn(key, "W131", fmt::format("{} has no effect: tp_comm_overlap is off", parallel.path_of(key)));
    }
    return;
  }
  if (options.tp == 1) {
    parallel.warn("tp_comm_overlap", "W131",
                  fmt::format("{} has no effect: tp is 1", parallel.path_of("tp_comm_overlap")));
    overlap = {};
  } else if (!options.sequence_parallel) {
    refuse(parallel, "needs activations that are split along the sequence", "set parallel.sequence_parallel: true");
  } else if (context.shape.adapters) {
    refuse(parallel, "is incompatible with low-rank adapters, whose GEMMs need the whole input", "remove one of them");
  }
}

}  // namespace ringwright::workload
