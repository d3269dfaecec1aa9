#include "workload/kernels/expert_kernels.h"

#include "workload/kernels/pointwise_kernels.h"

#include <cmath>

namespace ringwright::workload {
namespace {

using enum KernelFamily;

constexpr double kExpertFp32 = 4.0;

struct ExpertSizes {
  std::int64_t local = 1;  // experts of this rank
  std::int64_t width = 1;  // of an expert on this rank
  std::int64_t gated = 1;
  double rows = 0.0;
};

ExpertSizes sizes_of(const KernelContext& context) {
  const ExpertShape& experts = *context.shape.experts;
  const std::int64_t width = experts.ffn / context.experts.etp;
  return {.local = experts.count / context.experts.ep,
          .width = width,
          .gated = context.shape.activation == Activation::kSwiGlu ? 2 * width : width,
          .rows = expert_rows(context)};
}

// Scores in fp32, then the K best and their weights.
void add_router(KernelMaker& make) {
  const ExpertShape& experts = *make.shape.experts;
  const std::int64_t scores = make.local_tokens * experts.count;
  make.keep_precision();
  make.local_linear("router", make.shape.hidden, experts.count);
  make.stream(kSoftmax, "router choice", scores, {.other_bytes = 2.0 * kExpertFp32});
}

void add_router_backward(KernelMaker& make) {
  const ExpertShape& experts = *make.shape.experts;
  make.stream(kSoftmax, "router choice backward", make.local_tokens * experts.count,
              {.other_bytes = 3.0 * kExpertFp32});
  make.keep_precision();
  make.local_dgrad("router dgrad", make.shape.hidden, experts.count);
  make.local_wgrad("router wgrad", make.shape.hidden, experts.count);
}

// One vector read, K written, or the reverse.
void add_permutation(KernelMaker& make, const char* name) {
  const auto copies = static_cast<double>(make.shape.experts->per_token);
  make.stream(kCopy, name, make.local_tokens * make.shape.hidden, {.values = 1.0 + copies});
}

// Tokens arrive rank by rank and are needed expert by expert: no sort for one expert, or without other ranks.
void add_sort(KernelMaker& make, const KernelContext& context, const char* name) {
  const ExpertSizes sizes = sizes_of(context);
  if (sizes.local == 1 || context.experts.ep == 1) return;
  make.stream(kCopy, name, std::llround(sizes.rows * static_cast<double>(make.shape.hidden)), {.values = 2});
}

void add_expert_activation(KernelMaker& make, const ExpertSizes& sizes, const char* name, double values) {
  make.stream(kElementwise, name, std::llround(sizes.rows * static_cast<double>(sizes.width)), {.values = values});
}

void add_experts(KernelMaker& make, const KernelContext& context) {
  const ExpertSizes sizes = sizes_of(context);
  const std::int64_t h = make.shape.hidden;
  const bool gated = make.shape.activation == Activation::kSwiGlu;
  make.grouped("experts up", {.experts = sizes.local, .rows = sizes.rows, .inputs = h, .outputs = sizes.gated});
  add_expert_activation(make, sizes, gated ? "experts swiglu" : "experts gelu", gated ? 3.0 : 2.0);
  make.grouped("experts down", {.experts = sizes.local, .rows = sizes.rows, .inputs = sizes.width, .outputs = h});
}

void add_experts_backward(KernelMaker& make, const KernelContext& context) {
  const ExpertSizes sizes = sizes_of(context);
  const std::int64_t h = make.shape.hidden;
  const bool gated = make.shape.activation == Activation::kSwiGlu;
  if (context.training.recomputes(&RecomputedModules::expert_activation)) {
    add_expert_activation(make, sizes, gated ? "experts swiglu" : "experts gelu", gated ? 3.0 : 2.0);
  }
  make.grouped(
      "experts down dgrad",
      {.experts = sizes.local, .rows = sizes.rows, .inputs = sizes.width, .outputs = h, .role = GemmRole::kDgrad});
  add_expert_activation(make, sizes, gated ? "experts swiglu backward" : "experts gelu backward", gated ? 5.0 : 3.0);
  make.grouped(
      "experts up dgrad",
      {.experts = sizes.local, .rows = sizes.rows, .inputs = h, .outputs = sizes.gated, .role = GemmRole::kDgrad});
}

void add_experts_wgrad(KernelMaker& make, const KernelContext& context) {
  const ExpertSizes sizes = sizes_of(context);
  KernelMaker::Grouped product{.experts = sizes.local,
                               .rows = sizes.rows,
                               .inputs = sizes.width,
                               .outputs = make.shape.hidden,
                               .role = GemmRole::kWgrad};
  make.grouped("experts down wgrad", product);
  product.inputs = make.shape.hidden;
  product.outputs = sizes.gated;
  make.grouped("experts up wgrad", product);
}

void add_shared(KernelMaker& make, const KernelContext& context) {
  const std::int64_t width = make.shape.experts->shared_ffn / context.tp;
  const bool gated = make.shape.activation == Activation::kSwiGlu;
  make.linear("shared experts up", make.shape.hidden, gated ? 2 * width : width);
  make.stream(kElementwise, "shared experts activation", make.tokens * width, {.values = gated ? 3.0 : 2.0});
  make.linear("shared experts down", width, make.shape.hidden);
}

void add_shared_backward(KernelMaker& make, const KernelContext& context) {
  const std::int64_t width = make.shape.experts->shared_ffn / context.tp;
  const bool gated = make.shape.activation == Activation::kSwiGlu;
  const std::int64_t columns = gated ? 2 * width : width;
  make.dgrad("shared experts down dgrad", width, make.shape.hidden);
  make.wgrad("shared experts down wgrad", width, make.shape.hidden);
  make.stream(kElementwise, "shared experts activation backward", make.tokens * width, {.values = gated ? 5.0 : 3.0});
  make.dgrad("shared experts up dgrad", make.shape.hidden, columns);
  make.wgrad("shared experts up wgrad", make.shape.hidden, columns);
}

}  // namespace

double expert_rows(const KernelContext& context) {
  const std::int64_t local = context.tokens() / (context.sequence_parallel ? context.tp : 1);
  return static_cast<double>(local * context.shape.experts->per_token * context.experts.etp) * context.expert_load;
}

void add_expert_sections(LayerSection section, const KernelContext& context, KernelMaker& make) {
  if (section == LayerSection::kRouter) return add_router(make);
  if (section == LayerSection::kRouterBackward) {
    if (context.training.recomputes(&RecomputedModules::norms)) {
      add_norm(make, "mlp norm", make.local_tokens * make.shape.hidden);
    }
    return add_router_backward(make);
  }
  if (section == LayerSection::kPermute) return add_permutation(make, "token permutation");
  if (section == LayerSection::kPermuteBackward) return add_permutation(make, "token permutation backward");
  if (section == LayerSection::kUnpermute) return add_permutation(make, "token sum");
  if (section == LayerSection::kUnpermuteBackward) return add_permutation(make, "token sum backward");
  if (section == LayerSection::kExpertSort) return add_sort(make, context, "sort by expert");
  if (section == LayerSection::kExpertUnsort) return add_sort(make, context, "sort by rank");
  if (section == LayerSection::kExperts) return add_experts(make, context);
  if (section == LayerSection::kExpertsBackward) return add_experts_backward(make, context);
  if (section == LayerSection::kExpertsWgrad) return add_experts_wgrad(make, context);
  if (section == LayerSection::kSharedExperts) return add_shared(make, context);
  add_shared_backward(make, context);
}

}  // namespace ringwright::workload
