#include "workload/kernels/split_gemms.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "workload/kernels/kernel_maker.h"

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

RowRange with_cast(const std::vector<Kernel>& kernels, std::size_t gemm) {
  std::size_t begin = gemm;
  while (begin > 0 && kernels[begin - 1].family == KernelFamily::kCast) --begin;
  return {.begin = begin, .end = gemm + 1};
}

// A share has its part of the rows and all weights. One operator issues all shares in a loop of its own (Transformer
// Engine, comm_gemm_overlap.cpp: split_overlap_ag, split_overlap_rs; torch/distributed/_symmetric_memory).
Kernel share_of(Kernel kernel, int shares) {
  const auto parts = static_cast<double>(shares);
  if (shares > 1) kernel.issue = KernelIssue::kLoop;
  double weights = 0.0;
  if (kernel.family == KernelFamily::kGemm) {
    weights = static_cast<double>(kernel.k * kernel.n) * bytes_per_element(kernel.type);
    kernel.m /= shares;
    kernel.flops = kernel.flops / parts;
  }
  kernel.bytes = Bytes(std::llround((static_cast<double>(kernel.bytes.count()) - weights) / parts + weights));
  return kernel;
}

// A share of the tiles: the kernel is launched once, and the last tile ends it.
Kernel tiles_of(Kernel kernel, int shares) {
  kernel.flops = kernel.flops / static_cast<double>(shares);
  kernel.bytes = kernel.bytes / shares;
  kernel.share_of = shares;
  kernel.name += " tiles";
  return kernel;
}

std::vector<Kernel> part(const std::vector<Kernel>& kernels, std::size_t begin, std::size_t end) {
  return {kernels.begin() + static_cast<std::ptrdiff_t>(begin), kernels.begin() + static_cast<std::ptrdiff_t>(end)};
}

// The kernels of one share, and how many shares there are; at most `wanted`.
struct MadeShares {
  std::vector<Kernel> kernels;
  int count = 0;
};

MadeShares shares_of(const std::vector<Kernel>& kernels, const RowRange& range, int wanted, int sms) {
  MadeShares made{.kernels = {}, .count = wanted};
  const bool one_kernel = sms > 0;
  if (one_kernel) {
    made.count = static_cast<int>(std::clamp<std::int64_t>(gemm_waves(kernels[range.end - 1], sms), 1, wanted));
  }
  for (std::size_t i = range.begin; i < range.end; ++i) {
    made.kernels.push_back(one_kernel ? tiles_of(kernels[i], made.count) : share_of(kernels[i], made.count));
  }
  return made;
}

}  // namespace

std::int64_t gemm_waves(const Kernel& gemm, std::int64_t sms) {
  constexpr std::int64_t kRows = 128;
  constexpr std::int64_t kColumns = 256;
  const std::int64_t tiles = (gemm.m + kRows - 1) / kRows * ((gemm.n + kColumns - 1) / kColumns) * gemm.batch;
  return (tiles + sms - 1) / sms;
}

std::vector<Kernel> sum_of_tiles(const KernelContext& context, Bytes results, std::int64_t ranks) {
  KernelMaker make(context);
  const auto read = static_cast<double>(results.count());
  make.bytes_only(KernelFamily::kElementwise, "sum tiles", read + read / static_cast<double>(ranks),
                  context.training.precision);
  return make.take();
}

CutKernels split_gemms(const std::vector<Kernel>& kernels, const GemmShares& shares) {
  const auto wanted = [&shares](const Kernel& kernel) { return is_gemm(kernel, shares.role); };
  CutKernels cut;
  RowRange first{.begin = 0, .end = 0};
  RowRange last{.begin = kernels.size(), .end = kernels.size()};
  const auto front = std::find_if(kernels.begin(), kernels.end(), wanted);
  const auto back = std::find_if(kernels.rbegin(), kernels.rend(), wanted);
  if (shares.first > 0 && front != kernels.end()) {
    first = with_cast(kernels, static_cast<std::size_t>(front - kernels.begin()));
    MadeShares made = shares_of(kernels, first, shares.first, shares.sms);
    cut.first = std::move(made.kernels);
    cut.first_shares = made.count;
  }
  if (shares.last > 0 && back != kernels.rend()) {
    last = with_cast(kernels, static_cast<std::size_t>(kernels.rend() - back) - 1);
    MadeShares made = shares_of(kernels, last, shares.last, shares.sms);
    cut.last = std::move(made.kernels);
    cut.last_shares = made.count;
  }
  cut.head = part(kernels, 0, first.begin);
  cut.middle = part(kernels, first.end, last.begin);
  cut.tail = part(kernels, last.end, kernels.size());
  return cut;
}

}  // namespace ringwright::workload
