#include "workload/parallel/data.h"

#include <algorithm>
#include <utility>

#include "workload/kernels/optimizer_kernels.h"

namespace ringwright::workload {

DataParallel::DataParallel(SectionTable& sections, const ParallelOptions& parallel,
                           const std::vector<ModelChunk>& parts, const std::vector<Slot>& slots,
                           const DataStreams& channels, HostTraffic& host, Holding holding)
    : parallel_(parallel),
      holding_(holding),
      host_(host),
      channel_(channels.replicas),
      further_{.norm = {}, .across = channels.instances},
      sums_whole_(sections.context().training.gradient_sum == GradientSum::kCopied),
      element_(sections.context().training),
      kept_gradients_(count_trainable(parts)) {
  if (parallel.sharding.parameters && holding == Holding::kExpert && !parallel.shards_experts_apart()) {
    chunks_.resize(parts.size());  // nothing to do: the units also hold the experts
    return;
  }
  if (channels.shards) {
    const UnitSet set = holding == Holding::kExpert ? unit_sets(parallel).back() : unit_sets(parallel).front();
    sharded_.emplace(sections, set, parts, slots, *channels.shards, host);
    owned_ = sharded_->units().owned(set.options.shard);
    kept_gradients_ = sharded_->units().gradients();
    if (parallel.sharding.reduce_every_microbatch) kept_gradients_ = owned_;
    further_.norm = channels.shards->shard;
    return;
  }
  if (sharded()) further_.norm = channel_;
  for (std::size_t chunk = 0; chunk < parts.size(); ++chunk) {
    const BucketRule rule = bucket_rule(sections.context().training, parallel, place_of(parts, chunk), holding);
    std::vector<BucketState>& states = chunks_.emplace_back();
    const std::vector<Bucket> buckets = fill_buckets(parts[chunk], rule);
    owned_ += workload::owned_elements(buckets, parallel, holding);
    for (const Bucket& bucket : buckets) {
      BucketState& state = states.emplace_back();
      state.bucket = bucket;
      if (host.updates() && every_pass()) {
        state.sum = sections.add(add_gradients(sections.context(), bucket.padded / state_shards(parallel, holding)));
      }
      if (!channel_) continue;
      if (sections.context().training.compression.on()) {
        state.compressed.emplace(sections, bucket.elements, copies(parallel, holding));
      } else {
        state.scale = sections.add(scale_gradients(sections.context(), bucket.elements));
      }
    }
  }
  if (parallel.gradient_reduction != GradientReduction::kLastMicrobatch) kept_gradients_ = owned_;
}

std::string DataParallel::label(std::string_view what) const {
  return (holding_ == Holding::kExpert ? "edp " : "dp ") + std::string(what);
}

void DataParallel::await_reduction(ProgramWriter& writer) {
  if (const std::optional<TaskIndex> task = std::exchange(reducing_, std::nullopt)) writer.wait(*task);
}

void DataParallel::reduce(ProgramWriter& writer, BucketState& state) {
  await_reduction(writer);
  const bool again = state.reduced && every_pass();  // in an earlier microbatch
  if (state.compressed) {
    state.reduced = state.compressed->write(writer, *channel_, label(""));
  } else if (channel_) {
    writer.compute(state.scale);
    state.reduced = writer.collective(*channel_,
                                      {.kind = scatters() ? CollectiveKind::kReduceScatter : CollectiveKind::kAllReduce,
                                       .bytes = Bytes(state.bucket.padded * element_.gradient)},
                                      label(scatters() ? "reduce_scatter gradients" : "all_reduce gradients"));
    if (further_.across) state.reduced = sum_across(writer, state);
  } else {
    state.reduced = writer.last_computation().front();
  }
  const bool shares = channel_ && sharded();
  const std::int64_t kept = shares ? state.bucket.padded / state_shards(parallel_, holding_) : state.bucket.elements;
  const std::optional<TaskIndex> stored =
      again ? host_.add_to_stored(writer, kept, state.sum, {*state.reduced})
            : host_.store_gradients(writer, kept, {*state.reduced});
  const bool at_once =
      !parallel_.overlap_grad_reduce && parallel_.gradient_reduction != GradientReduction::kLastMicrobatch;
  if (every_pass() || at_once) reducing_ = stored && every_pass() ? stored : state.reduced;
  if (at_once) await_reduction(writer);
}

// Of a shard, over the other instances of the optimizer.
TaskIndex DataParallel::sum_across(ProgramWriter& writer, const BucketState& state) {
  const Bytes bytes(state.bucket.padded / state_shards(parallel_, holding_) * element_.gradient);
  return writer.collective_after(*further_.across, {.kind = CollectiveKind::kAllReduce, .bytes = bytes},
                                 label("all_reduce shards of gradients"), {*state.reduced});
}

void DataParallel::gather(ProgramWriter& writer, BucketState& state) {
  const Bytes bytes(state.bucket.padded * element_.parameter -
                    state.bucket.matrices * (element_.parameter - element_.matrix));
  const CollectiveSpec spec{.kind = CollectiveKind::kAllGather, .bytes = bytes};
  state.gathered = writer.collective(*channel_, spec, label("all_gather parameters"));
}

// Parameters are needed in the order of the forward pass.
void DataParallel::gather_all(ProgramWriter& writer) {
  for (std::vector<BucketState>& buckets : chunks_) {
    for (auto state = buckets.rbegin(); state != buckets.rend(); ++state) gather(writer, *state);
  }
}

void DataParallel::begin_step(ProgramWriter& writer) {
  if (channel_ && sharded() && parallel_.overlap_param_gather) gather_all(writer);
}

void DataParallel::before_forward(ProgramWriter& writer, int chunk, std::size_t point) {
  if (sharded_) return sharded_->enter(writer, chunk, point);
  for (BucketState& state : chunks_[static_cast<std::size_t>(chunk)]) {
    if (!state.gathered || point < state.bucket.first_point || point > state.bucket.last_point) continue;
    writer.wait(*state.gathered);
    state.gathered.reset();
  }
}

void DataParallel::after_forward(ProgramWriter& writer, int chunk, std::size_t point) {
  if (sharded_) sharded_->leave(writer, chunk, point);
}

void DataParallel::before_backward(ProgramWriter& writer, int chunk, std::size_t point) {
  if (sharded_) sharded_->enter(writer, chunk, point);
}

void DataParallel::after_backward(ProgramWriter& writer, int chunk, std::size_t point, Turn turn) {
  if (sharded_) return sharded_->leave(writer, chunk, point);
  if (!reduces_in(turn)) return;
  for (BucketState& state : chunks_[static_cast<std::size_t>(chunk)]) {
    if (state.bucket.first_point == point) reduce(writer, state);
  }
  if (point == 0) await_reduction(writer);
}

bool DataParallel::reduces_in(Turn turn) const {
  const bool in_passes =
      parallel_.overlap_grad_reduce || parallel_.gradient_reduction != GradientReduction::kLastMicrobatch;
  return turn == Turn::kReduces && passes_gradients() && in_passes;
}

bool DataParallel::leaves_forward_alone(int chunk) const {
  return !sharded_ && std::ranges::none_of(chunks_[static_cast<std::size_t>(chunk)],
                                           [](const BucketState& state) { return state.gathered.has_value(); });
}

bool DataParallel::leaves_backward_alone(Turn turn) const {
  return !sharded_ && !reduces_in(turn);
}

void DataParallel::finish_gradients(ProgramWriter& writer) {
  if (sharded_) return sharded_->finish_gradients(writer);
  if (!passes_gradients()) return;
  for (std::vector<BucketState>& buckets : chunks_) {
    for (BucketState& state : buckets) {
      if (!state.reduced) reduce(writer, state);
    }
  }
  for (const std::vector<BucketState>& buckets : chunks_) {
    for (const BucketState& state : buckets) writer.wait(*state.reduced);
  }
}

void DataParallel::reduce_norm(ProgramWriter& writer, Bytes bytes, std::string_view what) {
  if (!further_.norm) return;
  writer.wait(writer.collective(*further_.norm, {.kind = CollectiveKind::kAllReduce, .bytes = bytes}, label(what)));
}

void DataParallel::end_step(ProgramWriter& writer) {
  if (sharded_) return sharded_->end_step(writer);
  if (!channel_ || !sharded() || parallel_.overlap_param_gather) return;
  gather_all(writer);
}

}  // namespace ringwright::workload
