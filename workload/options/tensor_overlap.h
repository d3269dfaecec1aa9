// Which exchanges of tensor-parallel ranks run beside the product that needs or makes what is exchanged, as Transformer
// Engine does it with user buffers; keys as in Megatron-LM.
#pragma once

#include "core/config/config_map.h"

namespace ringwright::workload {

// Transformer Engine, pytorch/module/base.py (initialize_ub): inputs of qkv and fc1, and gradients of the outputs of
// the projection and of fc2, go round a ring while products of what is there run; outputs of the projection and of fc2
// are scattered in four chunks. What runs beside a whole other product ("bulk") does so without user buffers, too.
struct TensorOverlap {
  bool on = false;
  bool gather = true;              // ring exchange
  bool scatter = true;             // in chunks
  bool scatter_gradients = false;  // of inputs, in chunks, instead of beside the weights' gradient
  int chunks = 4;
  bool user_buffers = true;  // else parts are read from the neighbours' memory, out of small buffers

  // Buffers as large as an activation, one for each product that has an exchange.
  [[nodiscard]] int buffers() const {
    return on && user_buffers ? (gather ? 4 : 0) + (scatter ? 2 : 0) + (scatter_gradients ? 2 : 4) : 0;
  }
};

struct ParallelOptions;
struct ParallelContext;

// Reads `parallel.tp_comm_overlap` and its kin, when the layout is known.
void read_tensor_overlap(ConfigMap& parallel, const ParallelContext& context, ParallelOptions& options);

}  // namespace ringwright::workload
