#include "workload/kernels/gather_kernels.h"

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {
namespace {

// The host's turns of a loop over all parts, for which the device waits.
Kernel turns(const char* name, const KernelContext& context, std::int64_t parts) {
  return {.family = KernelFamily::kCopy,
          .name = name,
          .type = context.training.precision,
          .launches = parts,
          .host_paced = true,
          .issue = KernelIssue::kLoop};
}

constexpr double kStored = 4.0;  // bytes of a parameter in its shard

double gathered_bytes(const KernelContext& context, const GatheredElements& elements) {
  return static_cast<double>(elements.all - elements.narrow) * bytes_per_element(context.training.precision) +
         static_cast<double>(elements.narrow) * bytes_per_element(context.training.gemm_type());
}

}  // namespace

std::vector<Kernel> cast_shard(const KernelContext& context, const GatheredElements& elements) {
  KernelMaker make(context);
  make.bytes_only(KernelFamily::kCast, "cast shard",
                  gathered_bytes(context, elements) + kStored * static_cast<double>(elements.all),
                  context.training.precision);
  return make.take();
}

std::vector<Kernel> copy_shard(const KernelContext& context, const GatheredElements& elements) {
  KernelMaker make(context);
  make.bytes_only(KernelFamily::kCopy, "copy shard", 2.0 * gathered_bytes(context, elements),
                  context.training.precision);
  return make.take();
}

std::vector<Kernel> copy_gathered(const KernelContext& context, const GatheredElements& elements) {
  KernelMaker make(context);
  make.bytes_only(KernelFamily::kCopy, "copy gathered parameters", 2.0 * gathered_bytes(context, elements),
                  context.training.precision);
  return make.take();
}

std::vector<Kernel> cast_gathered(const KernelContext& context, const UsedWeights& weights, WeightUse use) {
  if (context.training.narrow == NarrowRecipe::kNone || weights.matrices == 0) return {};
  KernelMaker make(context);
  const auto elements = static_cast<double>(weights.elements);
  if (weights.narrow) {
    if (use != WeightUse::kForward) make.transpose_weights(elements, weights.matrices);
    return make.take();
  }
  make.cast_used_weights(elements, weights.matrices);
  if (use == WeightUse::kRecomputedBackward) make.cast_used_weights(elements, weights.matrices);
  return make.take();
}

std::vector<Kernel> list_parts(const KernelContext& context, const ListedWeight& weight) {
  KernelMaker make(context);
  make.stream(KernelFamily::kCopy, "clear gathered weight", weight.elements, {.values = 1});
  std::vector<Kernel> kernels = make.take();
  kernels.push_back(turns("list of parts", context, weight.parts));
  return kernels;
}

std::vector<Kernel> issue_part_copies(const KernelContext& context, const ListedWeight& weight) {
  return {turns("issue of part copies", context, weight.parts)};
}

std::vector<Kernel> copy_parts(const KernelContext& context, const ListedWeight& weight) {
  KernelMaker make(context);
  make.stream(KernelFamily::kCopy, "copy parts", weight.elements / weight.parts, {.values = 2});
  std::vector<Kernel> kernels = make.take();
  kernels.back().launches = weight.parts;
  kernels.back().issue = KernelIssue::kTogether;
  return kernels;
}

}  // namespace ringwright::workload
