// Context parallelism: each rank has a part of every sequence, and attention needs the keys and values of all parts.
//
// Bytes per layer and microbatch for S = s/cp tokens on a rank and n = b S (key + value columns) values: ring cp - 1
// sends of n forward, as many of n and of its gradient backward (Liu et al., Ring Attention, arXiv 2310.01889; a
// block's gradient starts at the owner's neighbour and arrives at the owner last); all-gather n cp forward, again
// backward with a reduce-scatter of the gradients (Llama 3, arXiv 2407.21783, section 3.3.2); all-to-all of queries,
// keys, values and results forward, of their gradients backward (DeepSpeed-Ulysses, arXiv 2309.14509), of the results
// as well where a ring follows (Transformer Engine, context_parallel.py: AttnFuncWithCPAndKVP2P.backward). PyTorch's
// context parallelism (torch/distributed/tensor/experimental/_attention.py) gathers forward and backward, computes
// block by block, and sends the sums of the gradients, in fp32, cp times around the ring; all of them for every query
// head. A compiler's trace waits for each exchange where it is issued (_functional_collectives.py), eager code where it
// is used.
#pragma once

#include <optional>

#include "workload/options/training_options.h"
#include "workload/parallel/exchanged_heads.h"
#include "workload/parallel/sections.h"
#include "workload/program/program_writer.h"

namespace ringwright::workload {

// Keys and values use one communication stream, their gradients another.
struct RingStreams {
  CommStream values;
  CommStream gradients;
};

class ContextParallel {
 public:
  struct CommStreams {
    std::optional<CommStream> collective;
    std::optional<RingStreams> ring;
    std::optional<CommStream> heads;  // of layers with a state
  };
  // `place`: index of the context-parallel rank. No streams: cp is 1.
  ContextParallel(SectionTable& sections, const ParallelOptions& parallel, const CommStreams& channels, int place);

  // From the GEMMs of queries, keys and values to the projection of the results.
  void attention_forward(ProgramWriter& writer, AttentionSpan span);
  void attention_backward(ProgramWriter& writer, AttentionSpan span);
  // The sections between those GEMMs and the projection, with communication; the forward pass's exchange is repeated
  // before the backward pass of a recomputed core.
  [[nodiscard]] bool talks() const { return parallel_.cp > 1; }
  [[nodiscard]] ExchangedHeads& heads() { return heads_; }
  void core_forward(ProgramWriter& writer, AttentionSpan span);
  void core_backward(ProgramWriter& writer, AttentionSpan span);
  // A forward pass of a core that was not saved, with the copies around its exchange.
  void core_again(ProgramWriter& writer, AttentionSpan span);

 private:
  void gathered_forward(ProgramWriter& writer, AttentionSpan span);
  void gathered_backward(ProgramWriter& writer, AttentionSpan span);
  void gather_and_begin(ProgramWriter& writer, AttentionSpan span, bool backward);
  void sparse_forward(ProgramWriter& writer, AttentionSpan span);
  void sparse_backward(ProgramWriter& writer, AttentionSpan span);
  [[nodiscard]] Bytes index_keys() const;
  void ring_forward(ProgramWriter& writer, AttentionSpan span);
  void ring_backward(ProgramWriter& writer, AttentionSpan span);
  void block(ProgramWriter& writer, AttentionSpan span, int distance, bool backward);
  [[nodiscard]] TaskIndex gather(ProgramWriter& writer);
  void gather_all(ProgramWriter& writer);
  void scatter(ProgramWriter& writer, Bytes bytes);
  // All three, or the results, or the gradients of either.
  void exchange_inputs(ProgramWriter& writer);
  void exchange_outputs(ProgramWriter& writer);
  // Exchanges are waited for where they are issued.
  [[nodiscard]] bool traced() const { return sections_.context().training.pointwise != Pointwise::kEager; }
  [[nodiscard]] Bytes bytes_of(std::uint8_t channel) const;
  [[nodiscard]] MessageSpec to_next(std::uint8_t channel) const;
  [[nodiscard]] MessageSpec from_previous(std::uint8_t channel) const;

  SectionTable& sections_;
  const ParallelOptions& parallel_;
  CommStreams channels_;
  ExchangedHeads heads_;
  int position_;  // in the ring
  int size_;      // of the ring
  Bytes gathered_keys_;
  Bytes gathered_;  // keys and values in the working precision, as all-gathers bring them, and gradients of a ring
  Bytes queries_, keys_, values_, outputs_;  // as others are exchanged: attention in fp8 casts them before
};

}  // namespace ringwright::workload
