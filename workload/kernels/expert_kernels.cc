#include "workload/kernels/expert_kernels.h"

#include "workload/kernels/expert_activation.h"
#include "workload/kernels/pointwise_kernels.h"
#include "workload/options/expert_visits.h"

#include <cmath>

namespace ringwright::workload {
namespace {

using enum KernelFamily;

constexpr double kExpertFp32 = 4.0;

// Without fusion: softmax, top-k, masks of the chosen ones and their number, two sums for the balancing loss, and the
// same in reverse (Megatron-LM, moe_utils.py: topk_routing_with_score_function, switch_load_balancing_loss_func).
constexpr int kRouterOperators = 12;
constexpr int kRouterBackwardOperators = 8;

// Tokens are projected to the latent space before they are dispatched, and back after they are combined, by weights
// that every rank holds whole; the router and shared experts read the token itself (Megatron-LM, moe_layer.py:
// fc1_latent_proj, fc2_latent_proj; LatentMoE). Their GEMMs have the recipe's type.
void add_expert_latent_down(KernelMaker& make) {
  const std::int64_t latent = make.shape.experts->latent;
  if (latent > 0) make.local_linear("expert latent down", make.shape.hidden, latent);
}

void add_expert_latent_down_backward(KernelMaker& make) {
  const std::int64_t latent = make.shape.experts->latent;
  if (latent == 0) return;
  make.local_dgrad("expert latent down dgrad", make.shape.hidden, latent);
  make.local_wgrad("expert latent down wgrad", make.shape.hidden, latent);
}

void add_expert_latent_up(KernelMaker& make) {
  const std::int64_t latent = make.shape.experts->latent;
  if (latent > 0) make.local_linear("expert latent up", latent, make.shape.hidden);
}

void add_expert_latent_up_backward(KernelMaker& make) {
  const std::int64_t latent = make.shape.experts->latent;
  if (latent == 0) return;
  make.local_dgrad("expert latent up dgrad", latent, make.shape.hidden);
  make.local_wgrad("expert latent up wgrad", latent, make.shape.hidden);
}

// Scores in fp32, then the K best and their weights.
void add_router(KernelMaker& make, const KernelContext& context) {
  const ExpertShape& experts = *make.shape.experts;
  const std::int64_t scores = make.local_tokens * experts.count;
  add_expert_latent_down(make);
  make.keep_precision();
  make.local_linear("router", make.shape.hidden, experts.count);
  for (int i = 0; i < (make.fused().router ? 1 : kRouterOperators); ++i) {
    make.stream(kSoftmax, "router choice", scores, {.other_bytes = 2.0 * kExpertFp32});
  }
  if (context.experts.host_sizes()) {
    make.read_by_host("tokens of experts to host", kExpertFp32 * static_cast<double>(experts.count));
  }
}

void add_router_backward(KernelMaker& make) {
  const ExpertShape& experts = *make.shape.experts;
  add_expert_latent_down_backward(make);
  for (int i = 0; i < (make.fused().router ? 1 : kRouterBackwardOperators); ++i) {
    make.stream(kSoftmax, "router choice backward", make.local_tokens * experts.count,
                {.other_bytes = 3.0 * kExpertFp32});
  }
  make.keep_precision();
  make.local_dgrad("router dgrad", make.shape.hidden, experts.count);
  make.local_wgrad("router wgrad", make.shape.hidden, experts.count);
}

// Vectors that a permutation reads and writes for each token with K copies. One kernel: one read, K written, or the
// reverse. PyTorch's operators: a gather of K; a product with the K weights, and a scatter-add that reads the sum.
enum class Permutation { kSpread, kSum };
double moved_vectors(const KernelMaker& make, Permutation kind) {
  const auto copies = static_cast<double>(make.shape.experts->per_token);
  if (make.fused().permute) return 1.0 + copies;
  return kind == Permutation::kSpread ? 2.0 * copies : 5.0 * copies;
}

// The flexible dispatcher takes tokens as they are, and returns their sum; a reduce-scatter over ranks that have all
// tokens returns it as well.
void add_permutation(KernelMaker& make, const KernelContext& context, Permutation kind, const char* name) {
  if (context.experts.is_flex() || context.experts.to_all()) return;
  make.stream(kCopy, name, make.local_tokens * expert_hidden(make.shape), {.values = moved_vectors(make, kind)});
}

// Tokens arrive rank by rank and are needed expert by expert: no sort for one expert, or without other ranks. The
// flexible dispatcher brings a token once to each rank. HybridEP brings it into a buffer that other ranks can write,
// and a kernel copies it out in any case: in the order of experts, or as it came for a sort of its own (DeepEP, branch
// hybrid-ep, executor.cu: dispatch_postprocess, combine_preprocess).
void add_sort(KernelMaker& make, const KernelContext& context, const char* name) {
  const ExpertSizes sizes = expert_sizes(context);
  const ExpertOptions& options = context.experts;
  if (options.ep == 1) return;
  const auto copies = static_cast<double>(make.shape.experts->per_token);
  const double arrived = options.is_flex() ? places_visited(*make.shape.experts, options.ep) / copies : 1.0;
  const std::int64_t values = std::llround(sizes.rows * static_cast<double>(expert_hidden(make.shape)));
  const bool buffered = options.is_flex() && options.backend == FlexBackend::kHybridEp;
  if (buffered && !make.fused().permute) make.stream(kCopy, "dispatch buffer", values, {.values = 2.0 * arrived});
  if (sizes.local == 1 && !(buffered && make.fused().permute)) return;
  make.stream(kCopy, name, values, {.values = 1.0 + arrived});
}

// Experts in sequence take their rows from one tensor and return them in one: their results are joined, and in reverse
// the gradients of their inputs (Megatron-LM, experts.py: SequentialMLP).
void join_experts(KernelMaker& make, const ExpertSizes& sizes, const char* name) {
  if (make.fused().grouped_gemm || sizes.local == 1) return;
  make.stream(kCopy, name, std::llround(sizes.rows * static_cast<double>(expert_hidden(make.shape))), {.values = 2});
}

// The second bias counts with the weight of its expert: PyTorch's operators add it in fp32, the weights' type, and cast
// the sum (Megatron-LM, experts.py: TEGroupedMLP._apply_bias). Forward for each expert the bias times the weights (one
// value written) and its sum with the rows (read in both types, written), then all rows joined and cast.
bool adds_weighted_bias(const KernelMaker& make) {
  return make.shape.biases.mlp && !make.fused().grouped_mlp;
}

void add_weighted_bias(KernelMaker& make, const ExpertSizes& sizes) {
  const auto expert =
      std::llround(sizes.rows * static_cast<double>(expert_hidden(make.shape)) / static_cast<double>(sizes.local));
  for (std::int64_t i = 0; i < sizes.local; ++i) {
    make.stream(kElementwise, "expert bias times weight", expert, {.other_bytes = kExpertFp32});
    make.stream(kElementwise, "expert bias add", expert, {.values = 1, .other_bytes = 2.0 * kExpertFp32});
  }
  make.stream(kCopy, "expert outputs joined", expert * sizes.local, {.other_bytes = 2.0 * kExpertFp32});
  make.stream(kCast, "expert outputs from fp32", expert * sizes.local, {.values = 1, .other_bytes = kExpertFp32});
}

// The reverse: the gradient in fp32; for each expert its cast for the GEMM, and the gradients of bias and weights, each
// a multiplication (read, written) and a sum (read); then the casts joined.
void add_weighted_bias_backward(KernelMaker& make, const ExpertSizes& sizes) {
  const auto expert =
      std::llround(sizes.rows * static_cast<double>(expert_hidden(make.shape)) / static_cast<double>(sizes.local));
  make.stream(kCast, "expert outputs backward: to fp32", expert * sizes.local,
              {.values = 1, .other_bytes = kExpertFp32});
  for (std::int64_t i = 0; i < sizes.local; ++i) {
    make.stream(kCast, "expert bias backward: from fp32", expert, {.values = 1, .other_bytes = kExpertFp32});
    for (const char* name : {"expert bias gradient", "expert weight gradient"}) {
      make.stream(kElementwise, name, expert, {.other_bytes = 2.0 * kExpertFp32});
      make.stream(kElementwise, std::string(name) + " sum", expert, {.other_bytes = kExpertFp32});
    }
  }
  make.stream(kCopy, "expert outputs backward: joined", expert * sizes.local, {.values = 2});
}

// GEMMs in fp8 and fp4 need a multiple of 16 to 128 tokens of each expert: Megatron-LM pads them and takes the padding
// away from their results (experts.py: TEGroupedMLP, quantization_padding), a copy of all tokens each, and in reverse
// two more. HybridEP pads as it dispatches, and capacities are such multiples. (moe_router_padding_for_quantization,
// off by default, would pad the routing instead.)
void add_padding(KernelMaker& make, const KernelContext& context, const char* name) {
  const ExpertOptions& options = context.experts;
  const bool narrow = context.training.gemm_type() != context.training.precision;
  const bool padded = options.pad_to_capacity || (options.is_flex() && options.backend == FlexBackend::kHybridEp);
  if (!narrow || padded || make.fused().grouped_mlp) return;
  const std::int64_t values = std::llround(expert_sizes(context).rows * static_cast<double>(expert_hidden(make.shape)));
  make.stream(kCopy, name, values, {.values = 2});
}

// What the experts store for the backward pass lies in buffers of a fixed size; a paged stash copies the tokens in them
// into pages, and back before the backward pass (Megatron-LM, paged_stash.py, from TEGroupedMLP): the inputs of both
// GEMMs and the activation's input. The copies have a stream of their own: they begin at the end of the layer, and the
// next layer of experts waits for them.
void add_stash_copy(KernelMaker& make, const KernelContext& context, const char* name) {
  if (!context.experts.paged_stash) return;
  const ExpertSizes sizes = expert_sizes(context);
  const double narrow = bytes_per_element(context.training.gemm_type());
  const bool again = context.training.recomputes(&RecomputedModules::expert_activation);
  const double inputs = narrow * static_cast<double>(expert_hidden(make.shape) + (again ? 0 : sizes.width));
  const double between = bytes_per_element(context.training.precision) * static_cast<double>(sizes.gated);
  make.concurrent_copy(name, 2.0 * sizes.rows * (inputs + between));
}

// A fused grouped MLP writes the activation's narrow values and their transpose in the epilogue of the GEMM, and stores
// the activation's input, which its backward pass reads.
void add_experts(KernelMaker& make, const KernelContext& context) {
  const ExpertSizes sizes = expert_sizes(context);
  const std::int64_t inner = expert_hidden(make.shape);
  const bool fused = make.fused().grouped_mlp;
  const double narrow = 2.0 * bytes_per_element(context.training.gemm_type()) * static_cast<double>(sizes.width);
  add_padding(make, context, "experts padding");
  make.grouped("experts up", {.experts = sizes.local,
                              .rows = sizes.rows,
                              .inputs = inner,
                              .outputs = sizes.gated,
                              .fused_bytes = fused ? narrow : 0.0});
  if (!fused) add_expert_activation(make, sizes);
  make.grouped("experts down",
               {.experts = sizes.local, .rows = sizes.rows, .inputs = sizes.width, .outputs = inner, .casts = !fused});
  if (adds_weighted_bias(make)) {
    add_weighted_bias(make, sizes);
  } else {
    join_experts(make, sizes, "expert outputs joined");
  }
  add_padding(make, context, "experts padding removed");
  add_stash_copy(make, context, "experts to stash");
}

void add_experts_backward(KernelMaker& make, const KernelContext& context) {
  const ExpertSizes sizes = expert_sizes(context);
  const std::int64_t inner = expert_hidden(make.shape);
  const bool fused = make.fused().grouped_mlp;
  add_stash_copy(make, context, "experts from stash");
  add_padding(make, context, "experts padding removed backward");
  if (context.training.recomputes(&RecomputedModules::expert_activation)) {
    add_expert_activation(make, sizes);
  }
  if (adds_weighted_bias(make)) add_weighted_bias_backward(make, sizes);
  // Reads the activation's input; its result is the gradient of that, in both layouts.
  const double each = bytes_per_element(context.training.precision) * static_cast<double>(sizes.gated - sizes.width) +
                      2.0 * bytes_per_element(context.training.gemm_type()) * static_cast<double>(sizes.gated);
  make.grouped("experts down dgrad", {.experts = sizes.local,
                                      .rows = sizes.rows,
                                      .inputs = sizes.width,
                                      .outputs = inner,
                                      .role = GemmRole::kDgrad,
                                      .fused_bytes = fused ? each : 0.0});
  if (!fused) add_expert_activation_backward(make, sizes);
  make.grouped("experts up dgrad", {.experts = sizes.local,
                                    .rows = sizes.rows,
                                    .inputs = inner,
                                    .outputs = sizes.gated,
                                    .role = GemmRole::kDgrad,
                                    .casts = !fused});
  join_experts(make, sizes, "expert inputs backward: joined");
  add_padding(make, context, "experts padding backward");
}

void add_experts_wgrad(KernelMaker& make, const KernelContext& context) {
  const ExpertSizes sizes = expert_sizes(context);
  KernelMaker::Grouped gemms{.experts = sizes.local,
                             .rows = sizes.rows,
                             .inputs = sizes.width,
                             .outputs = expert_hidden(make.shape),
                             .role = GemmRole::kWgrad};
  make.grouped("experts down wgrad", gemms);
  gemms.inputs = expert_hidden(make.shape);
  gemms.outputs = sizes.gated;
  make.grouped("experts up wgrad", gemms);
}

// One score of a token (Megatron-LM, shared_experts.py): the input is read once more, and the result read and written.
void add_shared_gate(KernelMaker& make) {
  if (!make.shape.experts->shared_gate) return;
  const std::int64_t values = make.local_tokens * make.shape.hidden;
  make.stream(kElementwise, "shared experts gate scores", values, {.values = 1});
  make.stream(kElementwise, "shared experts gate", values, {.values = 2});
}

// Gradients of result and score from both and the product's gradient; of the gate's weights from the input; of the
// input, which is added to the sum of the others.
void add_shared_gate_backward(KernelMaker& make) {
  if (!make.shape.experts->shared_gate) return;
  const std::int64_t values = make.local_tokens * make.shape.hidden;
  make.stream(kElementwise, "shared experts gate backward", values, {.values = 3});
  make.stream(kElementwise, "shared experts gate wgrad", values, {.values = 1});
  make.stream(kElementwise, "shared experts gate dgrad", values, {.values = 1});
  make.stream(kElementwise, "shared experts gate dgrad sum", values, {.values = 3});
}

void add_shared(KernelMaker& make, const KernelContext& context) {
  const std::int64_t width = make.shape.experts->shared_ffn / context.tp;
  const bool gated = make.shape.activation == Activation::kSwiGlu;
  make.linear("shared experts up", make.shape.hidden, gated ? 2 * width : width);
  make.stream(kElementwise, "shared experts activation", make.tokens * width, {.values = gated ? 3.0 : 2.0});
  make.linear("shared experts down", width, make.shape.hidden);
  add_shared_gate(make);
}

void add_shared_backward(KernelMaker& make, const KernelContext& context) {
  const std::int64_t width = make.shape.experts->shared_ffn / context.tp;
  const bool gated = make.shape.activation == Activation::kSwiGlu;
  const std::int64_t columns = gated ? 2 * width : width;
  add_shared_gate_backward(make);
  make.dgrad("shared experts down dgrad", width, make.shape.hidden);
  make.wgrad("shared experts down wgrad", width, make.shape.hidden);
  make.stream(kElementwise, "shared experts activation backward", make.tokens * width, {.values = gated ? 5.0 : 3.0});
  make.dgrad("shared experts up dgrad", make.shape.hidden, columns);
  make.wgrad("shared experts up wgrad", make.shape.hidden, columns);
}

// Kernels that the host can issue only when it has read how many tokens each expert has: it has no lead over the device
// then, and casts of single experts are over sooner than the next ones are issued. Backward the numbers are known, and
// the host runs ahead.
bool is_after_host_read(LayerSection section) {
  return section == LayerSection::kPermute || section == LayerSection::kExperts;
}

void add_expert_section(LayerSection section, const KernelContext& context, KernelMaker& make) {
  if (section == LayerSection::kRouter) return add_router(make, context);
  if (section == LayerSection::kRouterBackward) {
    if (context.training.recomputes(&RecomputedModules::norms)) {
      add_norm(make, "mlp norm", make.local_tokens * make.shape.hidden);
    }
    return add_router_backward(make);
  }
  if (section == LayerSection::kPermute) {
    return add_permutation(make, context, Permutation::kSpread, "token permutation");
  }
  if (section == LayerSection::kPermuteBackward) {
    return add_permutation(make, context, Permutation::kSum, "token permutation backward");
  }
  if (section == LayerSection::kUnpermute) {
    add_permutation(make, context, Permutation::kSum, "token sum");
    return add_expert_latent_up(make);
  }
  if (section == LayerSection::kUnpermuteBackward) {
    add_expert_latent_up_backward(make);
    return add_permutation(make, context, Permutation::kSpread, "token sum backward");
  }
  if (section == LayerSection::kExpertSort) return add_sort(make, context, "sort by expert");
  if (section == LayerSection::kExpertUnsort) return add_sort(make, context, "sort by rank");
  if (section == LayerSection::kExperts) return add_experts(make, context);
  if (section == LayerSection::kExpertsBackward) return add_experts_backward(make, context);
  if (section == LayerSection::kExpertsWgrad) return add_experts_wgrad(make, context);
  if (section == LayerSection::kSharedExperts) return add_shared(make, context);
  add_shared_backward(make, context);
}

}  // namespace

double expert_rows(const KernelContext& context) {
  const std::int64_t local = context.tokens() / (context.sequence_parallel ? context.tp : 1);
  return static_cast<double>(local * context.shape.experts->per_token * context.experts.etp) * context.expert_load;
}

void add_expert_sections(LayerSection section, const KernelContext& context, KernelMaker& make) {
  add_expert_section(section, context, make);
  if (context.experts.host_sizes() && is_after_host_read(section)) make.pace_by_host();
}

}  // namespace ringwright::workload
