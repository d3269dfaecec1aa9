#include "workload/parallel/sharded.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/check.h"
#include "workload/kernels/gather_kernels.h"
#include "workload/kernels/optimizer_kernels.h"
#include "workload/parallel/tiled_uses.h"

namespace ringwright::workload {
namespace {

// DeepSpeed, partition_parameters.py and coalesced_collectives.py: one fp32 scale per 8000 weights; for gradients one
// scale and one offset per 2048.
constexpr std::int64_t kWeightBlock = 8000;
constexpr std::int64_t kGradientBlock = 2048;

Bytes int8_bytes(std::int64_t elements) {
  return Bytes(elements + (elements + kWeightBlock - 1) / kWeightBlock * 4);
}
Bytes int4_bytes(std::int64_t elements) {
  return Bytes((elements + 1) / 2 + (elements + kGradientBlock - 1) / kGradientBlock * 8);
}

}  // namespace

ShardedParallel::ShardedParallel(SectionTable& sections, const UnitSet& set, const std::vector<ModelChunk>& parts,
                                 const std::vector<Slot>& slots, const ShardStreams& channels, HostTraffic& host)
    : sections_(sections),
      options_(set.options),
      name_(set.of == UnitsOf::kExperts ? "edp" : "fsdp"),
      units_(parts, options_, set.of),
      uses_(GatherSchedule(units_, options_, uses_of(units_, parts, sections.context().training, slots))),
      channels_(channels),
      host_(host),
      states_(units_.units().size()),
      element_(sections.context().training) {}

void ShardedParallel::gather(ProgramWriter& writer, std::size_t use) {
  const UnitUse& wanted = uses_.at(use);
  const ShardUnit& unit = units_.units()[wanted.unit];
  std::optional<TaskIndex>& gathered = states_[wanted.unit].gathered;
  if (unit.padded == 0) return;
  const bool again = wanted.pass != Pass::kForward;
  const bool second_copy = channels_.secondary && again;
  const std::int64_t elements = unit.padded + (again ? unit.regathered : 0);
  std::vector<TaskIndex> ready = options_.limit_gathers ? writer.last_computation() : std::vector<TaskIndex>();
  if (stored_) ready.push_back(*stored_);
  // FSDP's second copy is on the GPU.
  const bool fetches = host_.fetches_parameters() && !(second_copy && options_.master_in_shard);
  const std::vector<TaskIndex> after =
      fetches ? host_.fetch_parameters(writer, elements / options_.shard, std::move(ready)) : std::move(ready);
  if (options_.reduce_at_once && fetches) writer.wait(after.front());
  if (!second_copy && !channels_.shard) {
    CHECK(host_.fetches_parameters(), "sharded parameters need other ranks or a host to gather from");
    gathered = after.front();
    return;
  }
  GatherCall call{.channel = second_copy ? *channels_.secondary : *channels_.shard,
                  .label = name_ + (second_copy ? " all_gather second copy" : " all_gather parameters"),
                  .second_copy = second_copy,
                  .copied = options_.by_parameter && (options_.master_in_shard || unit.tensors > 1),
                  .quantized = options_.quantized_weights && !second_copy};
  std::vector<std::int64_t> calls = unit.calls;
  if (again) calls.insert(calls.end(), unit.calls_again.begin(), unit.calls_again.end());
  if (options_.gather_calls == GatherCalls::kLayers) {
    calls = {elements};
    call.narrow = narrow_of(unit);
  }
  for (const std::int64_t of_call : calls) {
    call.elements = of_call;
    call.parts = second_copy ? options_.secondary : options_.shard;
    gathered = options_.gather_calls == GatherCalls::kLists ? gather_into_list(writer, call, after)
                                                            : gather(writer, call, after);
  }
}

// FSDP casts its fp32 shards on a stream of its own (_flat_param.py: _use_low_precision_shard; _fsdp_collectives.py:
// _get_param_all_gather_inputs, which copies what has the type already), and FSDP2 copies them into the buffer there
// (all_gather_copy_in). DeepSpeed's copy into the buffer precedes its gather (partition_parameters.py: torch.cat).
void ShardedParallel::prepare_shard(ProgramWriter& writer, const GatherCall& call, std::vector<TaskIndex>& after) {
  const KernelContext& context = sections_.context();
  const GatheredElements elements{.all = call.elements / call.parts, .narrow = call.narrow / call.parts};
  const StreamIndex stream = channels_.casts.value_or(call.channel.stream);
  if (options_.master_in_shard && (context.training.precision != DataType::kFp32 || call.narrow > 0)) {
    const bool casts = !call.second_copy;
    if (casts || call.copied) {
      const SectionId section = sections_.add(casts ? cast_shard(context, elements) : copy_shard(context, elements));
      after = {writer.compute_on(stream, section, "cast shard", after)};
    }
  }
  if (!call.copied) return;
  after = {writer.compute_on(stream, sections_.add(copy_shard(context, elements)), "copy shard", after)};
}

// DeepSpeed copies parameters out on the stream of the gather (AllGatherCoalescedHandle.wait; a single one is gathered
// in place), FSDP2 before their use.
TaskIndex ShardedParallel::gather(ProgramWriter& writer, const GatherCall& call, std::vector<TaskIndex> after) {
  TaskIndex gathered = 0;
  if (call.quantized) {
    gathered = gather_quantized(writer, call, after);
  } else {
    prepare_shard(writer, call, after);
    const std::int64_t wide = call.elements - call.narrow;
    gathered = writer.collective_after(
        call.channel,
        {.kind = CollectiveKind::kAllGather, .bytes = Bytes(wide * element_.parameter + call.narrow * element_.matrix)},
        call.label, after);
  }
  if (!call.copied || options_.master_in_shard) return gathered;
  const SectionId copy = sections_.add(copy_gathered(sections_.context(), {call.elements, call.narrow}));
  return writer.compute_on(call.channel.stream, copy, "copy gathered parameters", {gathered});
}

TaskIndex ShardedParallel::gather_quantized(ProgramWriter& writer, const GatherCall& call,
                                            const std::vector<TaskIndex>& after) {
  const SectionId quantize = sections_.add(quantize_weights(sections_.context(), call.elements / options_.shard));
  const SectionId restore = sections_.add(restore_weights(sections_.context(), call.elements));
  const TaskIndex small = writer.compute_on(call.channel.stream, quantize, "quantize weights", after);
  const TaskIndex all = writer.collective_after(
      call.channel, {.kind = CollectiveKind::kAllGather, .bytes = int8_bytes(call.elements)}, call.label, {small});
  return writer.compute_on(call.channel.stream, restore, "restore weights", {all});
}

TaskIndex ShardedParallel::gather_into_list(ProgramWriter& writer, const GatherCall& call,
                                            std::vector<TaskIndex> after) {
  const KernelContext& context = sections_.context();
  const ListedWeight weight{.elements = call.elements, .parts = options_.shard};
  writer.compute(sections_.add(list_parts(context, weight)));
  std::ranges::copy(writer.last_computation(), std::back_inserter(after));
  const TaskIndex all = gather(writer, call, after);
  writer.compute(sections_.add(issue_part_copies(context, weight)));
  const TaskIndex copied =
      writer.compute_on(call.channel.stream, sections_.add(copy_parts(context, weight)), "copy parts", {all});
  writer.wait(copied);
  return copied;
}

void ShardedParallel::begin_use(ProgramWriter& writer) {
  for (const std::size_t use : uses_.gathers_before()) gather(writer, use);
  const std::size_t unit = uses_.now().unit;
  if (states_[unit].gathered) {
    writer.wait(*std::exchange(states_[unit].gathered, std::nullopt));
    const ShardUnit& whole = units_.units()[unit];
    const bool copied = options_.fsdp2() && channels_.shard;
    if (copied) writer.compute(sections_.add(copy_gathered(sections_.context(), {whole.padded, narrow_of(whole)})));
  }
  cast_matrices(writer, uses_.now());
}

// As with torchao, whose fp8 needs FSDP2.
void ShardedParallel::cast_matrices(ProgramWriter& writer, const UnitUse& use) {
  const ShardUnit& unit = units_.units()[use.unit];
  if (use.pass == Pass::kWeightGradient || !options_.fsdp2()) return;
  const KernelContext& context = sections_.context();
  const bool recomputed = context.training.recompute == Recompute::kFull;
  const WeightUse how = use.pass == Pass::kForward ? WeightUse::kForward
                        : recomputed               ? WeightUse::kRecomputedBackward
                                                   : WeightUse::kBackward;
  const std::vector<Kernel> casts = cast_gathered(
      context, {.elements = unit.matrices, .matrices = unit.matrix_count, .narrow = narrow_of(unit) > 0}, how);
  if (!casts.empty()) writer.compute(sections_.add(casts));
}

// Elements that are gathered in the type of their GEMMs.
std::int64_t ShardedParallel::narrow_of(const ShardUnit& unit) const {
  const bool narrow = options_.fsdp2() && sections_.context().training.gathers_narrow();
  return narrow ? std::min(unit.matrices, unit.padded) : 0;
}

void ShardedParallel::end_use(ProgramWriter& writer) {
  for (const std::size_t use : uses_.gathers_after()) gather(writer, use);
  if (uses_.now().pass != Pass::kForward) collect_gradients(writer);
  uses_.end();
}

void ShardedParallel::enter(ProgramWriter& writer, int chunk, std::size_t point) {
  if (!uses_.begin()) return;
  CHECK(!uses_.all_done() && uses_.now().unit == units_.unit_at(chunk, point),
        "passes are in the order of the schedule");
  begin_use(writer);
  if (!units_.tiles_at(chunk, point).empty()) end_use(writer);
}

void ShardedParallel::leave(ProgramWriter& writer, int chunk, std::size_t point) {
  if (!units_.tiles_at(chunk, point).empty()) {
    const bool begins = uses_.begin();
    CHECK(begins && uses_.now().unit == units_.unit_at(chunk, point), "a use of the layer follows its tiles");
    begin_use(writer);
  } else if (!uses_.ends_with(units_, chunk, point)) {
    return;
  }
  end_use(writer);
}

void ShardedParallel::enter_tile(ProgramWriter& writer) {
  const bool begins = uses_.begin();
  CHECK(begins && !uses_.all_done() && units_.units()[uses_.now().unit].tile, "tiles are in the order of the schedule");
  begin_use(writer);
}

void ShardedParallel::leave_tile(ProgramWriter& writer) { end_use(writer); }

void ShardedParallel::collect_gradients(ProgramWriter& writer) {
  const GatherSchedule::Step& step = uses_.step();
  accumulate(writer, step);
  if (step.completes_gradients && (options_.reduce_every_microbatch || step.last_gradients)) {
    pending_.padded += units_.units()[uses_.now().unit].padded_gradients;
    pending_.last = pending_.last && step.last_gradients;
    pending_.accumulated = pending_.accumulated || states_[uses_.now().unit].has_gradients;
  }
  const bool full = pending_.padded >= options_.reduce_bucket || uses_.ends_pass();
  if (pending_.padded > 0 && full) reduce(writer);
}

// Without a reduction in every microbatch, unless every weight's gradient is added by itself.
void ShardedParallel::accumulate(ProgramWriter& writer, const GatherSchedule::Step& step) {
  if (!step.completes_gradients || options_.reduce_every_microbatch) return;
  UnitState& state = states_[uses_.now().unit];
  if (step.last_gradients && !state.has_gradients) return;  // of one microbatch
  const KernelContext& context = sections_.context();
  const Accumulated which = state.has_gradients ? Accumulated::kFurther : Accumulated::kFirst;
  const std::vector<Kernel> kernels =
      accumulate_unsharded(context, units_.units()[uses_.now().unit].gradients, which, options_.fsdp2());
  const bool alone = context.training.gradient_sum == GradientSum::kFused;
  if (alone && !kernels.empty()) writer.compute(sections_.add(kernels));
  state.has_gradients = true;
}

void ShardedParallel::reduce(ProgramWriter& writer) {
  const auto [padded, last, accumulated] = std::exchange(pending_, Pending());
  const bool in_reduction_type = accumulated && options_.fsdp2();
  writer.compute(sections_.add(
      copy_gradients(sections_.context(), padded,
                     in_reduction_type ? CopiedGradients::kAccumulated : CopiedGradients::kOfMicrobatch)));
  TaskIndex done = options_.quantized_gradients ? scatter_quantized(writer, padded)
                   : channels_.shard            ? sum(writer, padded)
                                                : writer.last_computation().front();
  const std::int64_t owned = padded / options_.shard;
  if (channels_.replicate && (options_.replicate_every_microbatch || last)) {
    done = writer.collective_after(
        *channels_.replicate, {.kind = CollectiveKind::kAllReduce, .bytes = Bytes(owned * element_.gradient)},
        "hsdp all_reduce gradients", {done});
  }
  const std::optional<TaskIndex> stored = host_.store_bucket(writer, owned, last, {done});
  if (options_.reduce_at_once) {
    stored_ = stored;
    return writer.wait(stored.value_or(done));
  }
  reduced_.push_back(done);
}

// Where DeepSpeed all-reduces, it divides before and copies the sums back into the gradients (stage3.py:
// allreduce_and_copy).
TaskIndex ShardedParallel::sum(ProgramWriter& writer, std::int64_t padded) {
  const Bytes bytes(padded * element_.gradient);
  if (!options_.all_reduce) {
    return writer.collective(*channels_.shard, {.kind = CollectiveKind::kReduceScatter, .bytes = bytes},
                             name_ + " reduce_scatter gradients");
  }
  const KernelContext& context = sections_.context();
  writer.compute(sections_.add(scale_gradients(context, padded)));
  const TaskIndex summed = writer.collective(*channels_.shard, {.kind = CollectiveKind::kAllReduce, .bytes = bytes},
                                             name_ + " all_reduce gradients");
  return writer.compute_on(channels_.shard->stream, sections_.add(copy_gradients(context, padded)), "copy sums",
                           {summed});
}

// Quantize, exchange within the node, sum, quantize the result, exchange between nodes, sum.
TaskIndex ShardedParallel::scatter_quantized(ProgramWriter& writer, std::int64_t padded) {
  const KernelContext& context = sections_.context();
  const StreamIndex stream = (channels_.node ? *channels_.node : *channels_.across).stream;
  std::vector<TaskIndex> after = writer.last_computation();
  std::int64_t left = padded;
  const auto hop = [&](const CommStream& channel, std::int64_t members) {
    const SectionId quantize = sections_.add(quantize_gradients(context, left));
    const TaskIndex small = writer.compute_on(stream, quantize, "quantize gradients", after);
    const CommStream in_order{.dimension = channel.dimension, .stream = stream};
    const TaskIndex moved = writer.collective_after(
        in_order, {.kind = CollectiveKind::kAllToAll, .bytes = int4_bytes(left)}, "qgz all_to_all gradients", {small});
    const SectionId sum = sections_.add(sum_quantized_gradients(context, left, left / members));
    after = {writer.compute_on(stream, sum, "sum quantized gradients", {moved})};
    left /= members;
  };
  if (channels_.node) hop(*channels_.node, options_.node);
  if (channels_.across) hop(*channels_.across, options_.shard / options_.node);
  return after.front();
}

void ShardedParallel::finish_gradients(ProgramWriter& writer) {
  for (const TaskIndex task : reduced_) writer.wait(task);
}

void ShardedParallel::end_step(ProgramWriter& writer) {
  const std::int64_t persistent = units_.persistent();
  if (persistent == 0 || !channels_.shard) return;
  const std::int64_t padded = (persistent + options_.shard - 1) / options_.shard * options_.shard;
  writer.wait(writer.collective(*channels_.shard,
                                {.kind = CollectiveKind::kAllGather, .bytes = Bytes(padded * element_.parameter)},
                                "zero all_gather persistent parameters"));
}

}  // namespace ringwright::workload
