#include "workload/parallel/context.h"

#include <vector>

#include "workload/kernels/kernel_maker.h"
#include "workload/kernels/sparse_attention_kernels.h"

namespace ringwright::workload {
namespace {

// Channels of a ring's messages.
constexpr std::uint8_t kBlocks = 0;  // keys and values
constexpr std::uint8_t kGradients = 1;

}  // namespace

ContextParallel::ContextParallel(SectionTable& sections, const ParallelOptions& parallel, const CommStreams& channels,
                                 int place)
    : sections_(sections),
      parallel_(parallel),
      channels_(channels),
      heads_(sections, channels.heads),
      position_(place / parallel.ulysses),
      size_(parallel.ring()) {
  const KernelContext& context = sections.context();
  const KernelMaker sizes(context);
  const auto plain_bytes = static_cast<std::int64_t>(bytes_per_element(context.training.precision));
  const auto narrow_bytes = static_cast<std::int64_t>(bytes_per_element(DataType::kFp8));
  const std::int64_t value_bytes = context.training.fused.fp8_attention ? narrow_bytes : plain_bytes;
  gathered_ = Bytes(sizes.tokens * (sizes.key + sizes.value) * plain_bytes);
  gathered_keys_ = Bytes(sizes.tokens * sizes.key * plain_bytes);
  if (parallel.context_exchange == ContextExchange::kGatheredBlocks) {
    gathered_ = Bytes(sizes.tokens * (sizes.query + sizes.context) * plain_bytes);
  }
  if (context.shape.indexer) gathered_ = Bytes(sizes.tokens * latent_keys(context.shape) * plain_bytes);
  queries_ = Bytes(sizes.tokens * sizes.query * value_bytes);
  keys_ = Bytes(sizes.tokens * sizes.key * value_bytes);
  values_ = Bytes(sizes.tokens * sizes.value * value_bytes);
  outputs_ = Bytes(sizes.tokens * sizes.context * value_bytes);
}

Bytes ContextParallel::bytes_of(std::uint8_t channel) const {
  return channel == kBlocks ? keys_ + values_ : gathered_;
}

MessageSpec ContextParallel::to_next(std::uint8_t channel) const {
  return {.peer = (position_ + 1) % size_, .bytes = bytes_of(channel), .channel = channel};
}
MessageSpec ContextParallel::from_previous(std::uint8_t channel) const {
  return {.peer = (position_ + size_ - 1) % size_, .bytes = bytes_of(channel), .channel = channel};
}

// The scores of this rank's queries with the keys of the rank `distance` before it. Without zig-zag order a causal mask
// leaves half of the own block, all of the earlier ones and none of the later ones.
void ContextParallel::block(ProgramWriter& writer, AttentionSpan span, int distance, bool backward) {
  const bool even = parallel_.context_balanced || sections_.context().shape.masking == Masking::kBidirectional;
  if (!even && distance > position_) return;
  const bool full = !even && distance > 0;
  if (backward) {
    writer.compute(sections_.of(full ? LayerSection::kCoreFullBlockBackward : LayerSection::kCoreBlockBackward, span));
  } else {
    writer.compute(sections_.of(full ? LayerSection::kCoreFullBlock : LayerSection::kCoreBlock, span));
  }
}

void ContextParallel::ring_forward(ProgramWriter& writer, AttentionSpan span) {
  for (int distance = 0; distance < size_; ++distance) {
    std::optional<TaskIndex> next;
    if (distance + 1 < size_) {
      writer.send(channels_.ring->values, to_next(kBlocks), "cp send keys and values");
      next = writer.receive(channels_.ring->values, from_previous(kBlocks), "cp receive keys and values");
    }
    block(writer, span, distance, false);
    if (next) writer.wait(*next);
  }
}

// The gradient of a block's keys and values follows the block: from the neighbour, which computes the first remote one,
// around the ring to its owner.
void ContextParallel::ring_backward(ProgramWriter& writer, AttentionSpan span) {
  const auto receive_gradient = [&] {
    writer.wait(writer.receive(channels_.ring->gradients, from_previous(kGradients), "cp receive gradients"));
  };
  for (int distance = 0; distance < size_; ++distance) {
    std::optional<TaskIndex> next;
    if (distance + 1 < size_) {
      writer.send(channels_.ring->values, to_next(kBlocks), "cp send keys and values");
      next = writer.receive(channels_.ring->values, from_previous(kBlocks), "cp receive keys and values");
    }
    block(writer, span, distance, true);
    if (distance > 1) receive_gradient();
    if (distance > 0) writer.send(channels_.ring->gradients, to_next(kGradients), "cp send gradients");
    if (next) writer.wait(*next);
  }
  receive_gradient();
}

// Of Transformer Engine, which waits for a call each for keys and for values (gather_along_first_dim).
void ContextParallel::gather_all(ProgramWriter& writer) {
  for (const Bytes bytes : {gathered_keys_, gathered_ - gathered_keys_}) {
    writer.wait(writer.collective(*channels_.collective,
                                  {.kind = CollectiveKind::kAllGather, .bytes = bytes * parallel_.cp},
                                  "cp all_gather keys and values"));
  }
}

// Of PyTorch, for both together.
TaskIndex ContextParallel::gather(ProgramWriter& writer) {
  const Bytes all = gathered_ * parallel_.cp;
  return writer.collective(*channels_.collective, {.kind = CollectiveKind::kAllGather, .bytes = all},
                           "cp all_gather keys and values");
}

void ContextParallel::scatter(ProgramWriter& writer, Bytes bytes) {
  writer.wait(writer.collective(*channels_.collective,
                                {.kind = CollectiveKind::kReduceScatter, .bytes = bytes * parallel_.cp},
                                "cp reduce_scatter gradients"));
}

// The first block is the rank's own.
void ContextParallel::gather_and_begin(ProgramWriter& writer, AttentionSpan span, bool backward) {
  const TaskIndex gathered = gather(writer);
  if (traced()) writer.wait(gathered);
  block(writer, span, 0, backward);
  if (!traced()) writer.wait(gathered);
}

void ContextParallel::gathered_forward(ProgramWriter& writer, AttentionSpan span) {
  gather_and_begin(writer, span, false);
  for (int distance = 1; distance < size_; ++distance) block(writer, span, distance, false);
}

// A block's gradients are added to those that have arrived, and go on to the next rank.
void ContextParallel::gathered_backward(ProgramWriter& writer, AttentionSpan span) {
  MessageSpec sent = to_next(kGradients);
  MessageSpec arriving = from_previous(kGradients);
  const auto in_fp32 = static_cast<std::int64_t>(bytes_per_element(DataType::kFp32) /
                                                 bytes_per_element(sections_.context().training.precision));
  sent.bytes = sent.bytes * in_fp32;
  arriving.bytes = arriving.bytes * in_fp32;
  std::optional<TaskIndex> arrived;
  for (int distance = 0; distance < size_; ++distance) {
    if (distance == 0) {
      gather_and_begin(writer, span, true);
    } else {
      block(writer, span, distance, true);
    }
    if (arrived) writer.wait(*arrived);
    writer.send(channels_.ring->gradients, sent, "cp send gradients");
    const TaskIndex receiving = writer.receive(channels_.ring->gradients, arriving, "cp receive gradients");
    if (traced()) {
      writer.wait(receiving);
    } else {
      arrived = receiving;
    }
  }
  if (arrived) writer.wait(*arrived);
}

void ContextParallel::exchange_inputs(ProgramWriter& writer) {
  if (parallel_.ulysses == 1) return;
  std::vector<TaskIndex> sent;
  for (const Bytes bytes : {queries_, keys_, values_}) {
    sent.push_back(
        writer.collective(*channels_.collective, {.kind = CollectiveKind::kAllToAll, .bytes = bytes}, "cp alltoall"));
  }
  for (const TaskIndex task : sent) writer.wait(task);
}

void ContextParallel::exchange_outputs(ProgramWriter& writer) {
  if (parallel_.ulysses == 1) return;
  writer.wait(
      writer.collective(*channels_.collective, {.kind = CollectiveKind::kAllToAll, .bytes = outputs_}, "cp alltoall"));
}

// Sparse attention: latent vectors, and the indexer's keys. They stay for the backward pass, which scatters their
// gradients; without its loss the indexer has none (Megatron-LM, dsa.py).
Bytes ContextParallel::index_keys() const {
  const KernelContext& context = sections_.context();
  const auto value_bytes = static_cast<std::int64_t>(bytes_per_element(context.training.precision));
  return Bytes(context.tokens() * context.shape.indexer->head_size * value_bytes);
}

void ContextParallel::sparse_forward(ProgramWriter& writer, AttentionSpan span) {
  for (const Bytes bytes : {gathered_, index_keys()}) {
    writer.wait(writer.collective(*channels_.collective,
                                  {.kind = CollectiveKind::kAllGather, .bytes = bytes * parallel_.cp},
                                  "cp all_gather keys"));
  }
  writer.compute(sections_.of(LayerSection::kCore, span));
}

void ContextParallel::sparse_backward(ProgramWriter& writer, AttentionSpan span) {
  writer.compute(sections_.of(LayerSection::kCoreBackward, span));
  scatter(writer, gathered_);
  if (sections_.context().shape.indexer->loss) scatter(writer, index_keys());
}

void ContextParallel::core_forward(ProgramWriter& writer, AttentionSpan span) {
  if (sections_.context().shape.indexer) return sparse_forward(writer, span);
  if (parallel_.context_exchange == ContextExchange::kAllGather) {
    gather_all(writer);
    return writer.compute(sections_.of(LayerSection::kCore, span));
  }
  if (parallel_.context_exchange == ContextExchange::kGatheredBlocks) return gathered_forward(writer, span);
  exchange_inputs(writer);
  if (channels_.ring) {
    ring_forward(writer, span);
  } else {
    writer.compute(sections_.of(LayerSection::kCore, span));
  }
  exchange_outputs(writer);
}

// As in Transformer Engine, whose attention is one operator with its exchanges and their copies.
void ContextParallel::core_again(ProgramWriter& writer, AttentionSpan span) {
  if (parallel_.cp == 1) return writer.compute(sections_.of(LayerSection::kCore, span));
  const bool copies = parallel_.ulysses > 1;
  const bool casts = sections_.context().training.fused.fp8_attention;
  if (copies || casts) writer.compute(sections_[LayerSection::kHeadsToAttention]);
  core_forward(writer, span);
  if (copies) writer.compute(sections_[LayerSection::kHeadsFromAttention]);
}

void ContextParallel::core_backward(ProgramWriter& writer, AttentionSpan span) {
  if (sections_.context().training.recomputes(&RecomputedModules::core_attention)) core_again(writer, span);
  if (sections_.context().shape.indexer) return sparse_backward(writer, span);
  if (parallel_.context_exchange == ContextExchange::kAllGather) {
    gather_all(writer);
    writer.compute(sections_.of(LayerSection::kCoreBackward, span));
    for (const Bytes bytes : {gathered_keys_, gathered_ - gathered_keys_}) scatter(writer, bytes);
    return;
  }
  if (parallel_.context_exchange == ContextExchange::kGatheredBlocks) return gathered_backward(writer, span);
  exchange_outputs(writer);
  if (sections_.context().exchanges_result_again()) exchange_outputs(writer);
  if (channels_.ring) {
    ring_backward(writer, span);
  } else {
    writer.compute(sections_.of(LayerSection::kCoreBackward, span));
  }
  exchange_inputs(writer);
}

void ContextParallel::attention_forward(ProgramWriter& writer, AttentionSpan span) {
  if (parallel_.cp == 1) return sections_.write(writer, LayerSection::kAttention, span);
  sections_.write(writer, LayerSection::kQkv);
  core_forward(writer, span);
  sections_.write(writer, LayerSection::kProjection);
}

void ContextParallel::attention_backward(ProgramWriter& writer, AttentionSpan span) {
  if (parallel_.cp == 1) return sections_.write(writer, LayerSection::kAttentionBackward, span);
  sections_.write(writer, LayerSection::kProjectionBackward);
  core_backward(writer, span);
  writer.compute(sections_[LayerSection::kQkvBackward]);
}

}  // namespace ringwright::workload
