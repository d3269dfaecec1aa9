// Tensor parallelism of operators that every rank has whole: the indexer of sparse attention, and the narrow GEMMs of
// Kimi Delta Attention.
#include <algorithm>

#include "workload/kernels/sparse_attention_kernels.h"
#include "workload/parallel/tensor.h"

namespace ringwright::workload {
namespace {

Bytes narrow_bytes(const KernelContext& context) {
  const ChannelDecay& channels = *context.shape.delta_net->channels;
  const auto value_bytes = static_cast<std::int64_t>(bytes_per_element(context.training.precision));
  return Bytes(context.tokens() * (channels.decay_rank + channels.gate_rank) * value_bytes);
}

}  // namespace

// Megatron-LM, gated_delta_net/kda.py: results of the first narrow GEMMs are gathered for the second ones, and the
// token once more for the rates; their gradients are scattered and gathered. Without sequence parallelism the narrow
// results' gradients are summed.
void TensorParallel::gather_narrow(ProgramWriter& writer, LayerSection body) {
  const KernelContext& context = sections_.context();
  if (!channel_ || !sequence_parallel() || body != LayerSection::kDeltaNet || !context.shape.delta_net->channels)
    return;
  if (narrow_bytes(context) > Bytes(0)) writer.wait(gather(writer, narrow_bytes(context)));
  writer.wait(gather(writer, activation_));
}

void TensorParallel::scatter_narrow(ProgramWriter& writer, LayerSection body) {
  const KernelContext& context = sections_.context();
  if (!channel_ || body != LayerSection::kDeltaNetBackward || !context.shape.delta_net->channels) return;
  if (narrow_bytes(context) > Bytes(0)) writer.wait(sum(writer, narrow_bytes(context)));
  const auto value_bytes = static_cast<std::int64_t>(bytes_per_element(context.training.precision));
  writer.wait(gather(writer, Bytes(context.tokens() * context.shape.delta_net->value_heads * value_bytes)));
}

// Megatron-LM, dsa.py: forward_before_topk gathers the norm's result and the queries' latent vectors, which the GEMM of
// the queries has gathered on its own. They are detached: no gradient is scattered.
void TensorParallel::gather_index_inputs(ProgramWriter& writer) {
  const KernelContext& context = sections_.context();
  if (!channel_ || !context.shape.indexer) return;
  const auto value_bytes = static_cast<std::int64_t>(bytes_per_element(context.training.precision));
  writer.wait(gather(writer, Bytes(context.tokens() * index_inputs(context.shape) * value_bytes)));
}

// The attention's probabilities of the chosen tokens in fp32, computed again in the backward pass.
void TensorParallel::sum_index_target(ProgramWriter& writer) {
  const KernelContext& context = sections_.context();
  if (!channel_ || !context.shape.indexer || !context.shape.indexer->loss) return;
  const std::int64_t chosen = std::min(context.shape.indexer->chosen, context.shape.sequence);
  writer.wait(talk(writer, CollectiveKind::kAllReduce, Bytes(context.tokens() * chosen * 4)));
}

}  // namespace ringwright::workload
