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

}  // namespace

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
