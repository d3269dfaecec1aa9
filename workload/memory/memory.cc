#include "workload/memory/memory.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "workload/layout/last_order.h"
#include "workload/layout/stage_meshes.h"
#include "workload/memory/known_memory.h"
#include "workload/memory/memory_walk.h"
#include "workload/parallel/buckets.h"
#include "workload/parallel/shard_units.h"
#include "workload/parallel/step_streams.h"

namespace ringwright::workload {
namespace {

using namespace ringwright::literals;

void add(StageMemory& memory, std::string_view name, Bytes bytes, Evidence evidence = Evidence::kVendorSpec) {
  if (bytes > 0_B) memory.items.push_back({.name = name, .bytes = bytes, .evidence = evidence});
}

Bytes of_elements(std::int64_t elements, double bytes_each) {
  return scale(Bytes(1), static_cast<double>(elements) * bytes_each);
}

// Parameters whose state and gradients are on the host.
std::int64_t offloaded(std::int64_t owned, const OffloadOptions& offload) {
  return offload.optimizer == Tier::kGpu ? 0 : std::llround(offload.ratio * static_cast<double>(owned));
}

// ZeRO stores a shard in the working type, also of gradients, and fp32 master weights with two moments. FSDP's shards
// are the master weights, and their gradients are fp32. Gradients that are accumulated unsharded have the working type
// with FSDP1, and the reduction's with FSDP2 (_fsdp_param.py: to_accumulated_grad_if_needed).
void add_sharded_state(StageMemory& memory, const std::vector<StageUnits>& stage, const StepInputs& inputs) {
  const ShardingOptions& sharding = inputs.parallel.sharding;
  const bool mixed = inputs.training.precision != DataType::kFp32;
  const double value = bytes_per_element(inputs.training.precision);
  const double gradient = sharding.master_in_shard ? 4.0 : bytes_per_element(inputs.training.grad_reduce);
  const double added_up = sharding.fsdp2() ? bytes_per_element(inputs.training.grad_reduce) : value;
  const bool accumulates = !sharding.reduce_every_microbatch && inputs.parallel.microbatches(inputs.training) > 1;
  const bool away = inputs.parallel.offload.parameters != Tier::kGpu;
  const OptimizerTypes& types = inputs.training.optimizer;
  Bytes weights, second, gradients, optimizer;
  for (const auto& [options, units] : stage) {
    weights +=
        of_elements(away ? units.persistent() : units.kept(options.shard), sharding.master_in_shard ? 4.0 : value);
    if (sharding.secondary > 1) second += of_elements(units.kept(sharding.secondary), value);
    const std::int64_t owned = units.owned(options.shard);
    const std::int64_t here = owned - offloaded(owned, inputs.parallel.offload);
    gradients += accumulates ? of_elements(units.gradients(), added_up) : of_elements(here, gradient);
    optimizer += of_elements(here, mixed && !sharding.master_in_shard ? types.state() : types.moments());
  }
  add(memory, "weights", weights);
  add(memory, "second copy", second);
  add(memory, "gradients", gradients);
  add(memory, "optimizer", optimizer);
}

// The layers' matrices in the type of their GEMMs, in the layouts that these read (Transformer Engine, module/base.py:
// get_weight_workspace): in addition to those of the working type, or instead of them.
Bytes narrow_weights(const std::vector<ModelChunk>& parts, const StepInputs& inputs) {
  if (!inputs.training.stores_cast_weights() || inputs.parallel.sharding.parameters) return 0_B;
  const KernelContext context = make_kernel_context(inputs.shape, inputs.training, inputs.parallel);
  const LayerMatrices all = layer_matrices(parts, local_experts(inputs.shape, inputs.parallel), Matrices::kAll);
  return of_elements(all.elements, static_cast<double>(inputs.training.weight_layouts()) * linear_input_bytes(context));
}

Bytes saved_by_narrow_weights(const std::vector<ModelChunk>& parts, const StepInputs& inputs) {
  if (!inputs.training.narrow_parameters) return 0_B;
  const LayerMatrices all = layer_matrices(parts, local_experts(inputs.shape, inputs.parallel), Matrices::kAll);
  return of_elements(all.elements, bytes_per_element(inputs.training.precision)) - narrow_weights(parts, inputs);
}

// What one rank of a stage holds and updates.
struct StageContent {
  const std::vector<ModelChunk>& parts;
  const std::vector<StageUnits>& units;  // of these, where parameters are sharded
  std::int64_t owned = 0;                // parameters whose state it updates
};

void add_model_state(StageMemory& memory, const StageContent& stage, const StepInputs& inputs) {
  if (inputs.parallel.sharding.parameters) return add_sharded_state(memory, stage.units, inputs);
  const bool mixed = inputs.training.precision != DataType::kFp32;
  const Bytes weights = of_elements(count_elements(stage.parts), bytes_per_element(inputs.training.precision));
  add(memory, "weights", weights - saved_by_narrow_weights(stage.parts, inputs));
  const std::int64_t here = stage.owned - offloaded(stage.owned, inputs.parallel.offload);
  const double kept = static_cast<double>(inputs.parallel.zero_stage >= 2 ? here : count_trainable(stage.parts));
  add(memory, "gradients", scale(Bytes(1), kept * bytes_per_element(inputs.training.grad_reduce)));
  const OptimizerTypes& types = inputs.training.optimizer;  // in fp32 training the weights are the master weights
  add(memory, "optimizer", of_elements(here, mixed ? types.state() : types.moments()));
}

// DeepSpeed's BF16_Optimizer stores a microbatch's gradients next to the step's until the next backward pass, and casts
// one weight's at a time. Its stage 2 gathers those of a rank's partition before they are added to the sums of the
// previous microbatches (grads_in_partition of stage_1_and_2.py).
void add_microbatch_gradients(StageMemory& memory, const StageContent& stage, const StepInputs& inputs) {
  const ParallelOptions& parallel = inputs.parallel;
  if (parallel.gradient_reduction == GradientReduction::kMicrobatch && parallel.microbatches(inputs.training) > 1) {
    add(memory, "microbatch gradients",
        of_elements(stage.owned - offloaded(stage.owned, parallel.offload),
                    bytes_per_element(inputs.training.grad_reduce)));
  }
  if (inputs.training.gradient_sum != GradientSum::kCopied) return;
  add(memory, "microbatch gradients",
      of_elements(count_trainable(stage.parts), bytes_per_element(inputs.training.precision)));
}

// A tensor that is cut into tiles (options/linear_tiling.h) is as many as there are tiles.
enum class Largest { kAll, kTrained };
std::int64_t largest_tensor(const std::vector<ModelChunk>& parts, const LinearTiling& tiling, Largest of) {
  std::int64_t largest = 0;
  for (const ModelChunk& part : parts) {
    for (std::size_t point = 0; point < part.tensors.size(); ++point) {
      for (const ParameterTensor& tensor : part.tensors[point]) {
        if (of == Largest::kTrained && tensor.frozen) continue;
        const bool cut = tiling.on() && is_tiled_operator(tensor.name);
        largest = std::max(largest, cut ? tensor.elements / tiling.tiles(tensor.elements) : tensor.elements);
      }
    }
  }
  return largest;
}

// If the GEMM does not add to the step's gradients, one weight's gradient exists in addition until it is added, and for
// BF16_Optimizer also in fp32. The allocator keeps the size of the largest.
void add_largest_gradient(StageMemory& memory, const std::vector<ModelChunk>& parts, const StepInputs& inputs) {
  const TrainingOptions& training = inputs.training;
  if (training.gradient_sum == GradientSum::kFused) return;
  const std::int64_t largest = largest_tensor(parts, inputs.parallel.sharding.tiling, Largest::kTrained);
  const double cast = training.gradient_sum == GradientSum::kCopied ? 4.0 : 0.0;
  add(memory, "largest gradient", of_elements(largest, bytes_per_element(training.precision) + cast));
}

// Elements of the reduction buffers of gradients. DeepSpeed's stages 1 and 2 have one of reduce_bucket_size for every
// model, and with overlap_comm a second that fills meanwhile (setup_buckets of stage_1_and_2.py), its BF16_Optimizer
// one as large as the reduced gradients (buffered_allreduce_fallback of engine.py).
std::int64_t reduction_buffer(const std::vector<ModelChunk>& parts, const StepInputs& inputs) {
  const ParallelOptions& parallel = inputs.parallel;
  const bool every_pass = parallel.gradient_reduction == GradientReduction::kMicrobatch;
  const bool alone = parallel.replicas() == 1 && parallel.offload.optimizer == Tier::kGpu;
  if (alone || (!parallel.flat_gradients && !every_pass)) return 0;
  const std::int64_t trainable = count_trainable(parts);
  const bool copied = inputs.training.gradient_sum == GradientSum::kCopied;
  if (parallel.flat_gradients && copied) return std::min(parallel.flat_bucket, trainable);
  const std::int64_t buffers = parallel.overlap_grad_reduce ? 2 : 1;
  if (parallel.flat_gradients) return buffers * parallel.flat_bucket;
  const auto bytes = static_cast<std::int64_t>(bytes_per_element(inputs.training.grad_reduce));
  return buffers * std::min(parallel.bucket.count() / bytes, trainable);
}

// DeepSpeed's stages 1 and 2 copy a rank's partition of the gradients into one tensor, cast to fp32 for the update
// (step in stage_1_and_2.py). Like reduction buffers, it does not fit into memory that activations leave to the
// allocator.
void add_flat_gradients(StageMemory& memory, const StageContent& stage, const StepInputs& inputs) {
  const double each = bytes_per_element(inputs.training.grad_reduce);
  add(memory, "reduction buffer", of_elements(reduction_buffer(stage.parts, inputs), each));
  if (!inputs.parallel.flat_gradients || inputs.training.grad_reduce == DataType::kFp32) return;
  add(memory, "flat gradients", of_elements(stage.owned - offloaded(stage.owned, inputs.parallel.offload), each + 4.0));
}

// The errors that every parameter's codec made, in fp32; and the encoded gradients of the largest bucket, of this rank
// and, where they are gathered, of all ranks.
void add_compression(StageMemory& memory, const std::vector<ModelChunk>& parts, const StepInputs& inputs) {
  const GradientCompression& compression = inputs.training.compression;
  if (!compression.on() || inputs.parallel.replicas() == 1) return;
  const auto each = static_cast<std::int64_t>(bytes_per_element(inputs.training.grad_reduce));
  Bytes largest;
  for (std::size_t chunk = 0; chunk < parts.size(); ++chunk) {
    for (const Holding holding : {Holding::kDense, Holding::kExpert}) {
      const std::int64_t ranks = copies(inputs.parallel, holding);
      if (ranks == 1) continue;
      const BucketRule rule = bucket_rule(inputs.training, inputs.parallel, place_of(parts, chunk), holding);
      for (const Bucket& bucket : fill_buckets(parts[chunk], rule)) {
        const Bytes encoded = compression.encoded(bucket.elements, each);
        largest = std::max(largest, encoded * (compression.linear() ? 1 : ranks + 1));
      }
    }
  }
  if (compression.error_feedback) add(memory, "error feedback", of_elements(count_trainable(parts), 4.0));
  add(memory, "compressed gradients", largest);
}

// Of workers that train on their own: the outer optimizer's state, and the fragment that they exchange.
void add_outer_state(StageMemory& memory, std::int64_t owned, const StepInputs& inputs) {
  const LocalSgd& local = inputs.training.local_sgd;
  if (!local.on()) return;
  add(memory, "outer optimizer", of_elements(owned, local.state()));
  add(memory, "outer gradients", of_elements(local.fragment_of(owned), bytes_per_element(local.exchanged)));
}

// Of the weights that in-flight microbatches began with.
void add_weight_versions(StageMemory& memory, const std::vector<ModelChunk>& parts, const StepInputs& inputs) {
  const auto microbatches = static_cast<int>(inputs.parallel.microbatches(inputs.training));
  const int versions = weight_versions(inputs.parallel.versions, inputs.parallel.pp, memory.stage, microbatches);
  add(memory, "older weights",
      of_elements((versions - 1) * count_elements(parts), bytes_per_element(inputs.training.precision)));
}

// Of Transformer Engine, where communication overlaps GEMMs: as large as an activation, one for each such GEMM.
void add_user_buffers(StageMemory& memory, const StepInputs& inputs) {
  const KernelContext context = make_kernel_context(inputs.shape, inputs.training, inputs.parallel);
  add(memory, "user buffers",
      of_elements(inputs.parallel.tensor_overlap.buffers() * context.tokens() * inputs.shape.hidden,
                  bytes_per_element(inputs.training.precision)));
}

// One buffer in the working type for each shape of a weight: Transformer Engine passes it to autograd instead of a
// gradient that was added to the main gradient (module/base.py, get_dummy_wgrad).
void add_weight_gradients(StageMemory& memory, const std::vector<ModelChunk>& parts, const StepInputs& inputs) {
  if (!inputs.training.weight_gradient_buffers) return;
  std::map<std::string_view, std::int64_t> shapes;  // by name of the weight
  for (const ModelChunk& part : parts) {
    for (std::size_t point = 0; point < part.points.size(); ++point) {
      const PointKind kind = part.points[point];
      if (kind == PointKind::kEmbedding || kind == PointKind::kHead) continue;
      for (const ParameterTensor& tensor : part.tensors[point]) {
        // Each expert has a separate weight.
        const std::int64_t experts = tensor.expert ? local_experts(inputs.shape, inputs.parallel) : 1;
        const bool matrix = !tensor.replicated && tensor.name.find("bias") == std::string_view::npos;
        if (matrix && !tensor.frozen) shapes[tensor.name] = tensor.elements / experts;
      }
    }
  }
  std::int64_t elements = 0;
  for (const auto& [name, size] : shapes) elements += size;
  add(memory, "weight gradient buffers", of_elements(elements, bytes_per_element(inputs.training.precision)));
}

void add_assumed(StageMemory& memory, const MemoryWalk& walk, std::size_t dimensions,
                 const MemoryAssumptions& assumed) {
  const auto communicators = static_cast<std::int64_t>(dimensions) + assumed.more_communicators;
  add(memory, "fragmentation", scale(walk.peak.total(), assumed.fragmentation) + walk.reserved, Evidence::kAssumed);
  add(memory, "CUDA context", assumed.cuda_context, Evidence::kAssumed);
  add(memory, "communicators", assumed.communicator * communicators, Evidence::kAssumed);
}

std::int64_t owned_of(const std::vector<ModelChunk>& parts, const std::vector<StageUnits>& units,
                      const StepInputs& inputs) {
  std::int64_t owned = 0;
  for (const StageUnits& stage : units) owned += stage.units.owned(stage.options.shard);
  if (!units.empty()) return owned;
  for (std::size_t chunk = 0; chunk < parts.size(); ++chunk) {
    for (const Holding holding : {Holding::kDense, Holding::kExpert}) {
      const BucketRule rule = bucket_rule(inputs.training, inputs.parallel, place_of(parts, chunk), holding);
      owned += owned_elements(fill_buckets(parts[chunk], rule), inputs.parallel, holding);
    }
  }
  return owned;
}

}  // namespace

std::int64_t owned_parameters(const std::vector<ModelChunk>& parts, const StepInputs& inputs) {
  return owned_of(parts, stage_units(parts, inputs.parallel), inputs);
}

MemoryAssumptions read_memory_assumptions(ConfigMap& memory) {
  MemoryAssumptions assumed;
  const auto read = [&memory](std::string_view name, std::string_view doc, Bytes fallback) {
    if (!memory.has(name)) memory.assume(name, to_string(fallback), doc);
    return memory.bytes({.name = name, .doc = doc, .fallback = fallback, .min = 0_B});
  };
  assumed.cuda_context = read("cuda_context", "CUDA context, libraries and their workspaces on each GPU", 800_MiB);
  assumed.communicator = read("communicator", "buffers of one communicator on each GPU", 400_MiB);
  assumed.more_communicators = memory.integer({.name = "more_communicators",
                                               .doc = "communicators of the framework in addition to one for each "
                                                      "dimension",
                                               .fallback = 0,
                                               .min = 0,
                                               .max = 1000});
  assumed.largest_block = memory.bytes({.name = "largest_block",
                                        .doc = "largest contiguous block of free memory: no weight, tile of a weight, "
                                               "or gradient of one may be larger; 0: it is not fragmented",
                                        .fallback = 0_B,
                                        .min = 0_B});
  if (!memory.has("fragmentation"))
    memory.assume("fragmentation", "5%",
                  "share of activations that the allocator "
                  "loses to fragmentation");
  assumed.fragmentation = memory.percent({.name = "fragmentation",
                                          .doc = "share of activations that the allocator loses to fragmentation",
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

namespace {

// Stages whose chunks have the same content: of them only the schedule and the weight versions differ.
class EqualStages {
 public:
  // The contents outlive it.
  EqualStages(const StepInputs& inputs, const StageContents& contents, KnownGathers& gathers)
      : inputs_(inputs), parts_(contents.parts), walker_(inputs_, parts_, contents.units, gathers) {
    const StageContent content{
        .parts = parts_, .units = contents.units, .owned = owned_of(parts_, contents.units, inputs)};
    lasting_.largest_weight = of_elements(largest_tensor(parts_, inputs.parallel.sharding.tiling, Largest::kAll),
                                          bytes_per_element(inputs.training.precision));
    add_model_state(lasting_, content, inputs);
    if (!inputs.training.narrow_parameters) add(lasting_, "cast weights", narrow_weights(parts_, inputs));
    add_microbatch_gradients(lasting_, content, inputs);
    add_largest_gradient(lasting_, parts_, inputs);
    add_flat_gradients(lasting_, content, inputs);
    add_compression(lasting_, parts_, inputs);
    add_outer_state(lasting_, content.owned, inputs);
    add_weight_gradients(buffers_, parts_, inputs);
    add_user_buffers(buffers_, inputs);
  }

  // `slots`: in the order in which they allocate and release memory.
  [[nodiscard]] MemoryWalk walk(const std::vector<Slot>& slots) { return walker_.walk(slots); }

  [[nodiscard]] StageMemory of(int stage, const MemoryWalk& walk, std::size_t dimensions,
                               const MemoryAssumptions& assumptions) const {
    StageMemory memory{.stage = stage, .items = {}, .largest_weight = lasting_.largest_weight};
    memory.items.reserve(lasting_.items.size() + kHeldKinds + buffers_.items.size() + 4);
    memory.items.insert(memory.items.end(), lasting_.items.begin(), lasting_.items.end());
    add_weight_versions(memory, parts_, inputs_);
    for (std::size_t kind = 0; kind < kHeldKinds; ++kind) {
      add(memory, to_string(static_cast<Held>(kind)), walk.peak.of[kind]);
    }
    memory.items.insert(memory.items.end(), buffers_.items.begin(), buffers_.items.end());
    add_assumed(memory, walk, dimensions, assumptions);
    return memory;
  }

 private:
  StepInputs inputs_;
  const std::vector<ModelChunk>& parts_;
  MemoryWalker walker_;
  StageMemory lasting_;  // during the whole step
  StageMemory buffers_;  // likewise, listed after what is temporary
};

// Stages with meshes of their own.
std::vector<StageMemory> ledger_of_meshes(const StepInputs& inputs, const MemoryAssumptions& assumptions,
                                          const PipelineOrder& order, KnownGathers& gathers) {
  const std::size_t dimensions = count_dimensions(inputs.shape, inputs.parallel);
  std::vector<StageMemory> ledger;
  for (int stage = 0; stage < inputs.parallel.pp; ++stage) {
    const TrainingOptions training = training_of_stage(inputs.training, inputs.parallel, stage);
    const ParallelOptions own = parallel_of_stage(inputs.parallel, stage);
    const StepInputs mine{.shape = inputs.shape, .training = training, .parallel = own};
    const StageContents contents = stage_contents(mine, stage);
    EqualStages alone(mine, contents, gathers);
    ledger.push_back(alone.of(stage, alone.walk(order[static_cast<std::size_t>(stage)]), dimensions, assumptions));
  }
  return ledger;
}

}  // namespace

std::vector<StageMemory> memory_ledger(const StepInputs& inputs, const MemoryAssumptions& assumptions,
                                       KnownMemory* known) {
  const ParallelOptions& parallel = inputs.parallel;
  LastOrder own_order;
  KnownMemory own(own_order);
  KnownMemory& found = known != nullptr ? *known : own;
  found.begin(inputs);
  const bool repeat = passes_repeat(inputs);
  const PipelineOrder& order =
      found.order().for_memory(parallel, inputs.training, repeat ? LastOrder::Cycles::kOne : LastOrder::Cycles::kAll);
  if (!parallel.meshes.empty()) return ledger_of_meshes(inputs, assumptions, order, found.gathers());
  const std::size_t dimensions = count_dimensions(inputs.shape, parallel);
  const std::vector<int> firsts = first_with_same_chunks(inputs.shape, parallel);
  std::map<int, EqualStages> stages;  // by the first of them
  std::vector<MemoryWalk> own_walks;
  std::vector<MemoryWalk>& walks = repeat ? found.walks(inputs) : own_walks;
  std::vector<StageMemory> ledger;
  for (int stage = 0; stage < parallel.pp; ++stage) {
    const auto number = static_cast<std::size_t>(stage);
    auto equal_at = stages.find(firsts[number]);
    if (equal_at == stages.end()) {
      const StageContents& contents = found.contents(inputs, firsts[number]);
      equal_at = stages.try_emplace(firsts[number], inputs, contents, found.gathers()).first;
    }
    EqualStages& equal = equal_at->second;
    if (walks.size() == number) walks.push_back(equal.walk(order[number]));
    ledger.push_back(equal.of(stage, walks[number], dimensions, assumptions));
  }
  return ledger;
}

}  // namespace ringwright::workload
