#include "workload/kernels/tiled_gemms.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "workload/kernels/kernel_maker.h"
#include "workload/kernels/kernel_rules.h"

namespace ringwright::workload {
namespace {

bool is_tiled_gemm(const Kernel& kernel) {
  if (kernel.family != KernelFamily::kGemm) return false;
  return std::ranges::any_of(kTiledOperators, [&](std::string_view name) {
    return kernel.name.starts_with(name) && (kernel.name.size() == name.size() || kernel.name[name.size()] == ' ');
  });
}

// The GEMM with its m, n and k divided; what is not an operand is the result.
Kernel tile_of(Kernel gemm, std::int64_t m, std::int64_t n, std::int64_t k) {
  const double result = static_cast<double>(gemm.bytes.count()) - gemm_operand_bytes(gemm);
  gemm.m /= m;
  gemm.n /= n;
  gemm.k /= k;
  gemm.flops = gemm.flops / static_cast<double>(m * n * k);
  gemm.bytes = Bytes(std::llround(gemm_operand_bytes(gemm) + result / static_cast<double>(m * n)));
  gemm.name += " tile";
  return gemm;
}

class TileWriter {
 public:
  explicit TileWriter(const KernelContext& context) : context_(context) {}

  void add(const Kernel& kernel) { between_.push_back(kernel); }

  // Of tokens x inputs values and the weight.
  void forward(const Kernel& gemm) {
    const TileGrid grid = context_.tiling.grid(gemm.k, gemm.n);
    const Kernel tile = tile_of(gemm, 1, grid.outputs, grid.inputs);
    const std::int64_t result = tile.m * tile.n;
    const std::size_t first = kind({tile, stream(KernelFamily::kCopy, gemm.name + " clone", result, 2)});
    const std::size_t later = kind({tile, stream(KernelFamily::kElementwise, gemm.name + " sum", result, 3)});
    for (std::int64_t output = 0; output < grid.outputs; ++output) {
      for (std::int64_t input = 0; input < grid.inputs; ++input) {
        made_.steps.push_back({.kernels = input == 0 ? first : later, .tile = true});
      }
    }
    if (grid.outputs > 1) add(stream(KernelFamily::kCopy, gemm.name + " concatenation", gemm.m * gemm.n, 2));
  }

  // `weight`: the GEMM of the weight's gradient, and kernels that add it to those of the step.
  void backward(const Kernel& gemm, const std::vector<Kernel>& weight) {
    const TileGrid grid = context_.tiling.grid(gemm.n, gemm.k);
    const Kernel tile = tile_of(gemm, 1, grid.inputs, grid.outputs);
    std::vector<Kernel> kernels{tile};
    for (Kernel kernel : weight) {
      if (kernel.family == KernelFamily::kGemm) {
        kernels.push_back(tile_of(std::move(kernel), grid.inputs, grid.outputs, 1));
      } else {
        kernel.bytes = kernel.bytes / grid.count();
        kernels.push_back(std::move(kernel));
      }
    }
    const std::size_t first = kind(kernels);
    kernels.push_back(stream(KernelFamily::kElementwise, gemm.name + " sum", tile.m * tile.n, 3));
    const std::size_t later = kind(std::move(kernels));
    for (std::int64_t output = 0; output < grid.outputs; ++output) {
      for (std::int64_t input = 0; input < grid.inputs; ++input) {
        made_.steps.push_back({.kernels = output == 0 ? first : later, .tile = true});
      }
    }
    if (grid.inputs > 1) add(stream(KernelFamily::kCopy, gemm.name + " concatenation", gemm.m * gemm.n, 2));
  }

  [[nodiscard]] TiledKernels take() {
    flush();
    return std::move(made_);
  }
  // What was added precedes the tiles that follow.
  void flush() {
    if (between_.empty()) return;
    made_.steps.push_back({.kernels = kind(std::exchange(between_, {})), .tile = false});
  }

 private:
  std::size_t kind(std::vector<Kernel> kernels) {
    made_.kernels.push_back(std::move(kernels));
    return made_.kernels.size() - 1;
  }
  // A kernel that reads and writes so many tensors of the working type.
  [[nodiscard]] Kernel stream(KernelFamily family, std::string name, std::int64_t elements, int tensors) const {
    KernelMaker make(context_);
    make.stream(family, std::move(name), elements, {.values = static_cast<double>(tensors)});
    return make.take().front();
  }

  const KernelContext& context_;
  TiledKernels made_;
  std::vector<Kernel> between_;
};

}  // namespace

TiledKernels tile_linears(const std::vector<Kernel>& kernels, const KernelContext& context) {
  TileWriter writer(context);
  std::vector<bool> taken(kernels.size(), false);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (taken[i]) continue;
    const Kernel& kernel = kernels[i];
    if (!is_tiled_gemm(kernel)) {
      writer.add(kernel);
      continue;
    }
    writer.flush();
    if (kernel.role == GemmRole::kForward) {
      writer.forward(kernel);
      continue;
    }
    // "mlp up dgrad" is followed by "mlp up wgrad" and "mlp up wgrad sum".
    const std::string weight_name = kernel.name.substr(0, kernel.name.rfind(' ')) + " wgrad";
    std::vector<Kernel> weight;
    for (std::size_t later = i + 1; later < kernels.size(); ++later) {
      if (!kernels[later].name.starts_with(weight_name)) continue;
      weight.push_back(kernels[later]);
      taken[later] = true;
    }
    writer.backward(kernel, weight);
  }
  return writer.take();
}

}  // namespace ringwright::workload
