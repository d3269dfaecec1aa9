#include "workload/memory.h"

#include <algorithm>

#include <fmt/format.h>

#include "workload/activations.h"
#include "workload/builtin.h"
#include "workload/parallel/buckets.h"
#include "workload/step_streams.h"

namespace ringwright::workload {
namespace {

using namespace ringwright::literals;

// What is alive at one moment of the schedule.
struct Moment {
  Bytes layers, embedding, head, recomputed, gradients;
  Bytes accumulators;  // ZeRO stage 2: full gradients of chunks that are not reduced yet
  [[nodiscard]] Bytes total() const { return layers + embedding + head + recomputed + gradients + accumulators; }
};

Moment operator*(const Moment& moment, std::int64_t factor) {
  return {moment.layers * factor,     moment.embedding * factor, moment.head * factor,
          moment.recomputed * factor, moment.gradients * factor, moment.accumulators * factor};
}

Moment operator+(const Moment& a, const Moment& b) {
  return {a.layers + b.layers,         a.embedding + b.embedding, a.head + b.head,
          a.recomputed + b.recomputed, a.gradients + b.gradients, a.accumulators + b.accumulators};
}

std::int64_t expert_layers(const Part& part) {
  return std::ranges::count(part.points, PointKind::kExperts);
}

Moment kept_by(const Part& part, const KernelContext& context) {
  Moment moment;
  const std::int64_t experts = expert_layers(part);
  if (experts > 0) moment.layers = layer_activations(context, MlpKind::kExperts) * experts;
  moment.layers += layer_activations(context) * (part.layers - experts);
  if (part.embedding) moment.embedding = embedding_activations(context);
  const std::int64_t heads = std::ranges::count(part.points, PointKind::kPredictorHead) + (part.head ? 1 : 0);
  moment.head = head_activations(context) * heads;
  return moment;
}

Moment used_during(const Part& part, Pass pass, const KernelContext& context) {
  Moment moment;
  if (part.head) moment.head = head_workspace(context);
  if (pass == Pass::kForward || part.layers == 0) return moment;
  const std::int64_t experts = expert_layers(part);
  if (experts < part.layers) {
    moment.recomputed = recomputed_layer(context);
    moment.gradients = gradient_workspace(context);
  }
  if (experts == 0) return moment;
  moment.recomputed = std::max(moment.recomputed, recomputed_layer(context, MlpKind::kExperts));
  moment.gradients = std::max(moment.gradients, gradient_workspace(context, MlpKind::kExperts));
  return moment;
}

// When the full gradients of a chunk are there, under ZeRO stage 2.
class Accumulators {
 public:
  Accumulators(const std::vector<Part>& parts, const StepInputs& inputs)
      : microbatches_(inputs.parallel.microbatches(inputs.training)),
        reduced_at_once_(inputs.parallel.overlap_grad_reduce),
        done_(parts.size(), 0) {
    const bool sharded = inputs.parallel.zero_stage >= 2 && inputs.parallel.replicas() > 1;
    for (const Part& part : parts) {
      const auto elements = static_cast<double>(count_elements(std::vector<Part>{part}));
      bytes_.push_back(sharded ? scale(Bytes(1), elements * bytes_per_element(inputs.training.grad_reduce)) : 0_B);
    }
  }

  // What a backward pass through the chunk adds when it starts, and takes away when it ends.
  [[nodiscard]] Bytes begin_backward(int chunk) const {
    const auto index = static_cast<std::size_t>(chunk);
    return done_[index] == 0 ? bytes_[index] : 0_B;
  }
  [[nodiscard]] Bytes end_backward(int chunk) {
    const auto index = static_cast<std::size_t>(chunk);
    return ++done_[index] == microbatches_ && reduced_at_once_ ? bytes_[index] : 0_B;
  }

 private:
  std::int64_t microbatches_;
  bool reduced_at_once_;
  std::vector<std::int64_t> done_;  // by chunk: backward passes
  std::vector<Bytes> bytes_;        // by chunk
};

Moment peak_of(const std::vector<Part>& parts, const std::vector<Slot>& slots, const KernelContext& context,
               Accumulators accumulators) {
  Moment held;
  Moment peak;
  for (const Slot& slot : slots) {
    const Part& part = parts[static_cast<std::size_t>(slot.chunk)];
    const Moment kept = kept_by(part, context);
    if (slot.pass == Pass::kForward) held = held + kept;
    if (slot.pass == Pass::kBackward) held.accumulators += accumulators.begin_backward(slot.chunk);
    const Moment now = held + used_during(part, slot.pass, context);
    if (now.total() > peak.total()) peak = now;
    if (slot.pass == Pass::kForward) continue;
    held = held + kept * -1;
    held.accumulators -= accumulators.end_backward(slot.chunk);
  }
  return peak;
}

void add(StageMemory& memory, std::string name, Bytes bytes, Evidence evidence = Evidence::kVendorSpec) {
  if (bytes > 0_B) memory.items.push_back({.name = std::move(name), .bytes = bytes, .evidence = evidence});
}

void add_model_state(StageMemory& memory, const std::vector<Part>& parts, const StepInputs& inputs) {
  const bool mixed = inputs.training.precision != DataType::kFp32;
  const auto elements = static_cast<double>(count_elements(parts));
  std::int64_t owned = 0;
  for (std::size_t chunk = 0; chunk < parts.size(); ++chunk) {
    for (const Holding holding : {Holding::kDense, Holding::kExpert}) {
      const BucketRule rule = bucket_rule(inputs.training, inputs.parallel, static_cast<int>(chunk), holding);
      owned += owned_elements(fill_buckets(parts[chunk], rule), inputs.parallel, holding);
    }
  }
  add(memory, "weights", scale(Bytes(1), elements * bytes_per_element(inputs.training.precision)));
  const double kept = inputs.parallel.zero_stage >= 2 ? static_cast<double>(owned) : static_cast<double>(count_trainable(parts));
  add(memory, "gradients", scale(Bytes(1), kept * bytes_per_element(inputs.training.grad_reduce)));
  add(memory, "optimizer", Bytes(owned * (mixed ? 12 : 8)));  // in fp32 training the weights are the master weights
}

void add_assumed(StageMemory& memory, const Moment& peak, const StepStreams& streams,
                 const MemoryAssumptions& assumed) {
  const auto communicators = static_cast<std::int64_t>(streams.dimensions.size());
  add(memory, "fragmentation", scale(peak.total(), assumed.fragmentation), Evidence::kAssumed);
  add(memory, "CUDA context", assumed.cuda_context, Evidence::kAssumed);
  add(memory, "communicators", assumed.communicator * communicators, Evidence::kAssumed);
}

}  // namespace

MemoryAssumptions read_memory_assumptions(ConfigMap& memory) {
  MemoryAssumptions assumed;
  const auto read = [&memory](std::string_view name, std::string_view doc, Bytes fallback) {
    if (!memory.has(name)) memory.assume(name, to_string(fallback), doc);
    return memory.bytes({.name = name, .doc = doc, .fallback = fallback, .min = 0_B});
  };
  assumed.cuda_context = read("cuda_context", "CUDA context, libraries and their workspaces on each GPU", 800_MiB);
  assumed.communicator = read("communicator", "buffers of one communicator on each GPU", 400_MiB);
  if (!memory.has("fragmentation")) memory.assume("fragmentation", "5%", "what the allocator loses of activations");
  assumed.fragmentation = memory.percent({.name = "fragmentation",
                                          .doc = "what the allocator loses of activations",
                                          .fallback = 0.05,
                                          .min = 0.0,
                                          .max = 1.0});
  return assumed;
}

Bytes StageMemory::total() const {
  Bytes sum;
  for (const MemoryItem& item : items) sum += item.bytes;
  return sum;
}

Bytes StageMemory::of(std::string_view name) const {
  const auto item = std::ranges::find(items, name, &MemoryItem::name);
  return item == items.end() ? 0_B : item->bytes;
}

std::vector<StageMemory> memory_ledger(const StepInputs& inputs, const MemoryAssumptions& assumptions) {
  const ParallelOptions& parallel = inputs.parallel;
  const KernelContext context = make_kernel_context(inputs.shape, inputs.training, parallel);
  const StepStreams streams = make_streams(inputs.shape, parallel);
  std::vector<StageMemory> ledger;
  for (int stage = 0; stage < parallel.pp; ++stage) {
    const std::vector<Part> parts = stage_parts(inputs.shape, parallel, stage);
    const std::vector<Slot> slots =
        find_schedule(parallel.schedule)
            .order({.stage = stage,
                    .stages = parallel.pp,
                    .chunks = parallel.virtual_stages,
                    .microbatches = static_cast<int>(parallel.microbatches(inputs.training))});
    const Moment peak = peak_of(parts, slots, context, Accumulators(parts, inputs));
    StageMemory memory{.stage = stage, .items = {}};
    add_model_state(memory, parts, inputs);
    add(memory, "gradient accumulators", peak.accumulators);
    add(memory, "layer activations", peak.layers);
    add(memory, "embedding activations", peak.embedding);
    add(memory, "logits", peak.head);
    add(memory, "recomputed layer", peak.recomputed);
    add(memory, "activation gradients", peak.gradients);
    add_assumed(memory, peak, streams, assumptions);
    ledger.push_back(std::move(memory));
  }
  return ledger;
}

}  // namespace ringwright::workload
