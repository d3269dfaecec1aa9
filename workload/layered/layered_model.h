// A network as a table of layers, each a GEMM over the positions of its samples: ResNet, VGG, and others that are no
// decoder of equal blocks.
//
// A convolution is the GEMM that cuDNN's implicit algorithms run (Chetlur et al., "cuDNN: Efficient Primitives for Deep
// Learning", arXiv 1410.0759): for each of its output positions, k = input channels x kernel size, n = output channels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/plan/kernel.h"

namespace ringwright::workload {

// What follows the GEMM in a layer; each output channel has so many more weights.
enum class LayerEpilogue { kNone, kBias, kBatchNorm };

// `count` equal layers, one after another.
struct LayerRow {
  std::string name;
  std::int64_t count = 1;
  std::int64_t positions = 1;  // outputs of one channel in one sample: height x width; 1 of a fully connected layer
  std::int64_t k = 1;          // products in one output: input channels x kernel height x kernel width
  std::int64_t n = 1;          // output channels
  std::int64_t inputs = 1;     // elements that one sample brings
  LayerEpilogue epilogue = LayerEpilogue::kBias;
  bool activates = true;  // ReLU
};

// SGD with momentum has one fp32 value for each weight, Adam two.
enum class LayeredOptimizer { kSgd, kMomentum, kAdam };

// kAuto: what cuDNN would choose: Winograd's algorithm where a layer has it. kDirect: every product of the convolution.
enum class ConvolutionAlgorithm { kAuto, kDirect };

struct LayeredModel {
  std::string name;
  std::vector<LayerRow> layers;
  std::int64_t global_batch = 1;
  DataType precision = DataType::kFp32;  // of GEMMs and activations; weights and gradients are fp32
  ConvolutionAlgorithm convolution = ConvolutionAlgorithm::kAuto;
  LayeredOptimizer optimizer = LayeredOptimizer::kMomentum;
  Bytes first_bucket;  // of gradients that are reduced together
  Bytes bucket;        // later ones
};

// Weights and gradients are fp32.
inline constexpr double kLayerWeightBytes = 4.0;

// Of one of the row's layers.
[[nodiscard]] std::int64_t parameters_of(const LayerRow& row);
// FLOPs of one layer's forward GEMM for one sample: 2 x positions x k x n.
[[nodiscard]] double forward_flops(const LayerRow& row);
// Whether it is a 3 x 3 convolution of stride 1, in fp32, with channels enough for the batched GEMMs of Winograd's
// algorithm.
[[nodiscard]] bool has_winograd(const LayeredModel& model, const LayerRow& row);
// Elements that one sample leaves for the backward pass: the layer's output, and what the norm and ReLU behind it make.
[[nodiscard]] double saved_elements(const LayerRow& row);

[[nodiscard]] std::int64_t parameter_count(const LayeredModel& model);
// For one sample.
[[nodiscard]] double forward_flops(const LayeredModel& model);
// fp32 values of state for each weight.
[[nodiscard]] int state_values(LayeredOptimizer optimizer);

}  // namespace ringwright::workload
