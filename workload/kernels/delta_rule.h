// The delta rule in chunks, forward and backward: its sizes on a rank, and its kernels.
#pragma once

#include "workload/kernels/kernel_maker.h"
#include "workload/options/document_mix.h"

namespace ringwright::workload {

inline constexpr double kRateBytes = 4.0;  // of a decay, in fp32

// On this rank: columns of a token, and what a microbatch has. Context-parallel ranks exchange heads for tokens around
// the delta rule, one call each time (gated_delta_net/common.py: a2a_cp_to_hp, a2a_hp_to_cp): each has whole sequences
// of its heads.
struct NetSizes {
  NetSizes(const KernelMaker& make, const KernelContext& context)
      : net(*make.shape.delta_net),
        heads(net.value_heads / (make.tp() * context.cp)),
        keys(net.keys() / (make.tp() * context.cp)),
        values(net.values() / (make.tp() * context.cp)),
        repeated(heads * net.key_size),
        decays(net.decays() / (make.tp() * context.cp)),
        convolved(net.convolved() / (make.tp() * context.cp)),
        projected(net.projected() / (make.tp() * context.cp)),
        tokens(make.tokens * context.cp),
        sequences(context.training.micro_batch * context.training.documents(make.shape.sequence)),
        chunks(context.training.micro_batch *
               document_chunks(context.training, make.shape.sequence, DeltaNetShape::kChunk)) {}

  [[nodiscard]] bool repeats() const { return repeated != keys; }
  [[nodiscard]] std::int64_t states() const { return chunks * heads * net.key_size * net.value_size; }
  [[nodiscard]] std::int64_t triangles() const { return tokens * heads * DeltaNetShape::kChunk; }

  const DeltaNetShape& net;
  std::int64_t heads, keys, values;
  std::int64_t repeated;  // queries or keys for all heads of values
  std::int64_t decays;    // one for each head, or for each channel of its key
  std::int64_t convolved, projected;
  std::int64_t tokens, sequences, chunks;
};

void add_delta_rule(KernelMaker& make, const KernelContext& context, const NetSizes& sizes);
void add_delta_rule_backward(KernelMaker& make, const KernelContext& context, const NetSizes& sizes);

}  // namespace ringwright::workload
