// Tensor-parallel communication that overlaps the GEMM that produces or consumes its data, as in Transformer Engine
// with user buffers, or inside fused kernels, as in Flux; keys as in Megatron-LM.
#pragma once

#include "core/config/config_map.h"

namespace ringwright::workload {

// Transformer Engine, pytorch/module/base.py (initialize_ub): inputs of qkv and fc1, and gradients of the outputs of
// the projection and of fc2, travel around a ring while GEMMs run on the parts that have arrived; outputs of the
// projection and of fc2 are scattered in four chunks. "Bulk" overlap with another whole GEMM also works without user
// buffers.
enum class OverlapMethod { kTransformerEngine, kFlux };

// Flux (arXiv 2406.06858): a GEMM stays one kernel. Its tiles wait for a signal of the part of the input that they
// read, which copy engines bring from each rank in turn, the next one first; and a finished tile of a result is stored
// into the memory of the rank that sums it, the next rank's first. No multiprocessor is taken for communication, and
// every rank adds up what it got in a kernel of its own.
struct TensorOverlap {
  bool on = false;
  OverlapMethod method = OverlapMethod::kTransformerEngine;
  bool gather = true;              // ring exchange
  bool scatter = true;             // in chunks
  bool scatter_gradients = false;  // of inputs, in chunks, instead of concurrently with the wgrad GEMM
  int chunks = 4;
  int tiles = 4;  // of Flux: parts with a signal of each rank's share
  int sms = 0;    // of Flux: of the GPU
  bool user_buffers = true;  // else parts are read from small buffers in the neighbours' memory

  // Buffers as large as an activation, one for each GEMM with communication.
  [[nodiscard]] int buffers() const {
    return on && user_buffers ? (gather ? 4 : 0) + (scatter ? 2 : 0) + (scatter_gradients ? 2 : 4) : 0;
  }

  friend bool operator==(const TensorOverlap&, const TensorOverlap&) = default;
};

struct ParallelOptions;
struct ParallelContext;

// Reads `parallel.tp_comm_overlap` and related keys, once the layout is known.
void read_tensor_overlap(ConfigMap& parallel, const ParallelContext& context, ParallelOptions& options);

}  // namespace ringwright::workload
