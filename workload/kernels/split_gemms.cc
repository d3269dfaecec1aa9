#include "workload/kernels/split_gemms.h"

#include <algorithm>
#include <cmath>

namespace ringwright::workload {
namespace {

// Begin and end of a GEMM in a section: its input may be quantised first.
struct RowRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

bool is_gemm(const Kernel& kernel, GemmRole role) {
  return kernel.family == KernelFamily::kGemm && kernel.role == role;
}

RowRange with_cast(const std::vector<Kernel>& kernels, std::size_t product) {
  std::size_t begin = product;
  while (begin > 0 && kernels[begin - 1].family == KernelFamily::kCast) --begin;
  return {.begin = begin, .end = product + 1};
}

// A share has its part of the rows and all weights.
Kernel share_of(Kernel kernel, int shares) {
  const auto parts = static_cast<double>(shares);
  double weights = 0.0;
  if (kernel.family == KernelFamily::kGemm) {
    weights = static_cast<double>(kernel.k * kernel.n) * bytes_per_element(kernel.type);
    kernel.m /= shares;
    kernel.flops = kernel.flops / parts;
  }
  kernel.bytes = Bytes(std::llround((static_cast<double>(kernel.bytes.count()) - weights) / parts + weights));
  return kernel;
}

std::vector<Kernel> part(const std::vector<Kernel>& kernels, std::size_t begin, std::size_t end) {
  return {kernels.begin() + static_cast<std::ptrdiff_t>(begin), kernels.begin() + static_cast<std::ptrdiff_t>(end)};
}

std::vector<Kernel> shares_of(const std::vector<Kernel>& kernels, const RowRange& range, int shares) {
  std::vector<Kernel> made;
  for (std::size_t i = range.begin; i < range.end; ++i) made.push_back(share_of(kernels[i], shares));
  return made;
}

}  // namespace

CutKernels split_gemms(const std::vector<Kernel>& kernels, const GemmShares& shares) {
  const auto wanted = [&shares](const Kernel& kernel) { return is_gemm(kernel, shares.role); };
  CutKernels cut;
  RowRange first{.begin = 0, .end = 0};
  RowRange last{.begin = kernels.size(), .end = kernels.size()};
  const auto front = std::find_if(kernels.begin(), kernels.end(), wanted);
  const auto back = std::find_if(kernels.rbegin(), kernels.rend(), wanted);
  if (shares.first > 0 && front != kernels.end()) {
    first = with_cast(kernels, static_cast<std::size_t>(front - kernels.begin()));
    cut.first = shares_of(kernels, first, shares.first);
  }
  if (shares.last > 0 && back != kernels.rend()) {
    last = with_cast(kernels, static_cast<std::size_t>(kernels.rend() - back) - 1);
    cut.last = shares_of(kernels, last, shares.last);
  }
  cut.head = part(kernels, 0, first.begin);
  cut.middle = part(kernels, first.end, last.begin);
  cut.tail = part(kernels, last.end, kernels.size());
  return cut;
}

}  // namespace ringwright::workload
