#include "workload/layered/layer_gemms.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

namespace ringwright::workload {
namespace {

// The least channels on both sides for which transforms of their own pay.
constexpr std::int64_t kLargeTileChannels = 128;

double gemm_element(const LayeredModel& model) { return bytes_per_element(model.precision); }
double gemm_inputs(const LayerGemm& gemm) { return gemm.samples * static_cast<double>(gemm.row.inputs); }
double gemm_outputs(const LayerGemm& gemm) {
  return gemm.samples * static_cast<double>(gemm.row.positions) * static_cast<double>(gemm.row.n);
}

// `rows`: of the forward GEMM.
Kernel shaped(const LayeredModel& model, const LayerGemm& gemm, std::int64_t rows, std::int64_t k) {
  Kernel kernel{.name = gemm.row.name, .type = model.precision, .m = rows, .n = gemm.row.n, .k = k, .role = gemm.role};
  if (gemm.role == GemmRole::kDgrad) kernel.name += " dgrad", std::swap(kernel.n, kernel.k);
  if (gemm.role == GemmRole::kWgrad) kernel.name += " wgrad", kernel.m = k, kernel.k = rows;
  return kernel;
}

// Inputs and outputs of the layer as tensors, not as the matrices of its GEMM: the implicit algorithm reads them so.
Bytes tensor_bytes(const LayeredModel& model, const LayerGemm& gemm) {
  const auto weights = static_cast<double>(gemm.row.k * gemm.row.n);
  return scale(Bytes(1), gemm_element(model) * (gemm_inputs(gemm) + gemm_outputs(gemm) + weights));
}

Kernel direct(const LayeredModel& model, const LayerGemm& gemm) {
  Kernel kernel = shaped(model, gemm, gemm.row.positions * static_cast<std::int64_t>(gemm.samples), gemm.row.k);
  kernel.flops = Flops(forward_flops(gemm.row) * gemm.samples);
  kernel.bytes = tensor_bytes(model, gemm);
  return kernel;
}

// F(2 x 2, 3 x 3): transforms of inputs take 32 additions a tile and input channel, those of outputs 24 a tile and
// output channel (section 4.1); the tensors pass through memory once.
Kernel small_tiles(const LayeredModel& model, const LayerGemm& gemm) {
  constexpr double kTile = 4.0, kProducts = 16.0, kOfInputs = 32.0, kOfOutputs = 24.0;
  const std::int64_t channels = gemm.row.k / 9;
  const double tiles = std::floor(gemm.samples * static_cast<double>(gemm.row.positions) / kTile);
  Kernel kernel = shaped(model, gemm, static_cast<std::int64_t>(tiles), channels);
  kernel.batch = static_cast<std::int64_t>(kProducts);
  const auto in = static_cast<double>(channels), out = static_cast<double>(gemm.row.n);
  kernel.flops = Flops(tiles * (2.0 * kProducts * in * out + kOfInputs * in + kOfOutputs * out));
  kernel.bytes = tensor_bytes(model, gemm);
  return kernel;
}

// F(4 x 4, 3 x 3), with whole tiles at the edges. Each transform reads one side and writes the other.
void add_large_tiles(const LayeredModel& model, const LayerGemm& gemm, std::vector<Kernel>& kernels) {
  constexpr double kSide = 4.0, kProducts = 36.0;
  const std::int64_t channels = gemm.row.k / 9;
  const double across = std::ceil(std::sqrt(static_cast<double>(gemm.row.positions)) / kSide);
  const double tiles = gemm.samples * across * across;
  const auto in = static_cast<double>(channels), out = static_cast<double>(gemm.row.n);
  const auto transform = [&](std::string_view name, double tensor, double side) {
    kernels.push_back({.family = KernelFamily::kElementwise, .name = std::string(name), .type = model.precision,
                       .bytes = scale(Bytes(1), gemm_element(model) * (tensor + kProducts * tiles * side))});
  };
  transform("winograd inputs", gemm_inputs(gemm), in);
  Kernel kernel = shaped(model, gemm, static_cast<std::int64_t>(tiles), channels);
  kernel.batch = static_cast<std::int64_t>(kProducts);
  kernel.flops = Flops(2.0 * kProducts * tiles * in * out);
  kernel.bytes = scale(Bytes(1), gemm_element(model) * kProducts * (tiles * (in + out) + in * out));
  kernels.push_back(std::move(kernel));
  transform("winograd outputs", gemm_outputs(gemm), out);
}

}  // namespace

void add_layer_gemm(const LayeredModel& model, const LayerGemm& gemm, std::vector<Kernel>& kernels) {
  if (!has_winograd(model, gemm.row)) return kernels.push_back(direct(model, gemm));
  const bool large = gemm.row.k / 9 >= kLargeTileChannels && gemm.row.n >= kLargeTileChannels;
  if (large) return add_large_tiles(model, gemm, kernels);
  kernels.push_back(small_tiles(model, gemm));
}

}  // namespace ringwright::workload
