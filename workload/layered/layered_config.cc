#include "workload/layered/layered_config.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/config/choice_of.h"
namespace ringwright::workload {
using namespace literals;

namespace {

constexpr std::int64_t kWidestLayer = 1LL << 24;
constexpr double kMostTableBytes = 1e17;  // of one tensor, or of all weights: several of them stay within 63 bits
constexpr std::int64_t kMostTableLayers = 10'000;

constexpr std::array kLayerEpilogues = {Option{"none", ""}, Option{"bias", "one value for each channel"},
                                   Option{"batch_norm", "a scale and a shift for each channel, and no bias"}};
constexpr std::array kLayerEpilogueValues = {LayerEpilogue::kNone, LayerEpilogue::kBias, LayerEpilogue::kBatchNorm};
constexpr std::array kLayeredOptimizers = {Option{"sgd", "no state"},
                                           Option{"momentum", "one fp32 value for each weight"},
                                           Option{"adam", "two fp32 values for each weight"}};
constexpr std::array kLayeredOptimizerValues = {LayeredOptimizer::kSgd, LayeredOptimizer::kMomentum,
                                                LayeredOptimizer::kAdam};
constexpr std::array kConvolutions = {
    Option{"auto", "Winograd's algorithm for 3 x 3 convolutions of stride 1 in fp32, as cuDNN chooses"},
    Option{"direct", "every product of the convolution (cuDNN's implicit GEMMs)"}};
constexpr std::array kConvolutionValues = {ConvolutionAlgorithm::kAuto, ConvolutionAlgorithm::kDirect};
constexpr std::array kLayeredTypes = {Option{"fp32", ""}, Option{"tf32", "GEMMs of fp32 on tensor cores"},
                                      Option{"bf16", ""}, Option{"fp16", ""}};
constexpr std::array kLayeredTypeValues = {DataType::kFp32, DataType::kTf32, DataType::kBf16, DataType::kFp16};

LayerRow read_layer(ConfigMap& map) {
  LayerRow row;
  row.name = map.text({.name = "name", .doc = "of the layer"});
  row.count = map.integer({.name = "count", .doc = "equal layers, one after another", .fallback = 1, .min = 1,
                           .max = kMostTableLayers});
  row.positions = map.integer({.name = "positions",
                               .doc = "outputs of one channel in one sample: height x width of a convolution",
                               .fallback = 1,
                               .min = 1,
                               .max = kWidestLayer});
  row.k = map.integer({.name = "k",
                       .doc = "products in one output: input channels x kernel height x kernel width",
                       .min = 1,
                       .max = kWidestLayer});
  row.n = map.integer({.name = "n", .doc = "output channels", .min = 1, .max = kWidestLayer});
  row.inputs =
      map.integer({.name = "inputs", .doc = "input elements of one sample", .min = 1, .max = kWidestLayer * 16});
  row.epilogue = choice_of(map,
                           {.name = "epilogue", .doc = "what follows the GEMM", .fallback = std::string("bias")},
                           kLayerEpilogues, kLayerEpilogueValues);
  row.activates = map.boolean({.name = "relu", .doc = "whether a ReLU follows", .fallback = true});
  return row;
}

void read_layers(ConfigMap& map, LayeredModel& model) {
  std::int64_t layers = 0;
  for (ConfigMap& layer : map.maps("layers", "the layers, from the input to the loss")) {
    model.layers.push_back(read_layer(layer));
    layers += model.layers.back().count;
  }
  const bool unknown_preset = map.has("preset") && !map.has("layers");  // already reported
  if (!map.documenting() && !unknown_preset && (layers == 0 || layers > kMostTableLayers)) {
    map.error("layers", "E540",
              fmt::format("{} has {} layers, and needs 1 to {}", map.path(), layers, kMostTableLayers),
              "layers: [{name: fc, k: 2048, n: 1000, inputs: 2048}]");
    model.layers.clear();
  }
  if (model.layers.empty()) model.layers.push_back({.name = "none"});
}

void read_batch(ConfigMap& map, const LayeredMachine& machine, LayeredModel& model) {
  const std::int64_t ranks = machine.ranks;
  model.global_batch =
      map.integer({.name = "global_batch", .doc = "samples of a training step", .min = 1, .max = 1'000'000'000});
  if (map.documenting() || model.global_batch % ranks == 0) return;
  const std::int64_t rounded = std::max<std::int64_t>(1, model.global_batch / ranks) * ranks;
  if (machine.ranks_known) {
    map.error("global_batch", "E541",
              fmt::format("{} is {} and must be divisible by the {} ranks", map.path_of("global_batch"),
                          model.global_batch, ranks),
              fmt::format("set {}: {}", map.path_of("global_batch"), rounded));
  }
  model.global_batch = rounded;
}

// Bytes of all weights, and of what a rank's samples bring to and take from each layer.
double largest_bytes(const LayeredModel& model, std::int64_t ranks) {
  const double samples = static_cast<double>(model.global_batch) / static_cast<double>(ranks);
  double weights = 0.0, largest = 0.0;
  for (const LayerRow& row : model.layers) {
    const double k = static_cast<double>(row.k), n = static_cast<double>(row.n);
    weights += static_cast<double>(row.count) * (k + 2.0) * n;
    const double elements = saved_elements(row) + static_cast<double>(row.inputs);
    largest = std::max(largest, static_cast<double>(row.count) * samples * elements);
  }
  return std::max(weights, largest) * kLayerWeightBytes;
}

void check_sizes(ConfigMap& map, std::int64_t ranks, LayeredModel& model) {
  const double bytes = largest_bytes(model, ranks);
  if (map.documenting() || bytes <= kMostTableBytes) return;
  map.error("layers", "E542",
            fmt::format("the weights, or what a rank saves of one row, are {:.2g} bytes; at most {:.0e} are allowed",
                        bytes, kMostTableBytes),
            fmt::format("reduce count, positions, k or n of the largest row, or {}", map.path_of("global_batch")));
  model.layers = {{.name = "none"}};
}

}  // namespace

LayeredModel read_layered(ConfigMap& map, const LayeredMachine& machine) {
  LayeredModel model;
  model.name = map.text({.name = "name", .doc = "of the network", .fallback = std::string("layer table")});
  read_layers(map, model);
  read_batch(map, machine, model);
  check_sizes(map, machine.ranks, model);
  model.precision = choice_of(
      map, {.name = "precision", .doc = "type of GEMMs and activations", .fallback = std::string("fp32")},
      kLayeredTypes, kLayeredTypeValues);
  model.convolution = choice_of(
      map, {.name = "convolution", .doc = "the algorithm of convolutions", .fallback = std::string("auto")},
      kConvolutions, kConvolutionValues);
  model.optimizer =
      choice_of(map, {.name = "optimizer", .doc = "its state", .fallback = std::string("momentum")},
                kLayeredOptimizers, kLayeredOptimizerValues);
  model.bucket = map.bytes({.name = "bucket",
                            .doc = "gradients that are all-reduced together (bucket_cap_mb of PyTorch; "
                                   "HOROVOD_FUSION_THRESHOLD)",
                            .fallback = 25_MiB,
                            .min = 1_KiB});
  model.first_bucket = map.bytes({.name = "first_bucket",
                                  .doc = "size of the first bucket (dist._DEFAULT_FIRST_BUCKET_BYTES of PyTorch)",
                                  .fallback = 1_MiB,
                                  .min = 1_KiB});
  if (map.documenting() || machine.gpu.name.empty() || machine.gpu.peak_of(model.precision) > FlopRate(0.0)) {
    return model;
  }
  map.error("precision", "E135",
            fmt::format("{} = {}, but {} has no {} arithmetic (cluster.node.gpu.peak)", map.path_of("precision"),
                        to_string(model.precision), machine.gpu.name, to_string(model.precision)),
            fmt::format("set {}: fp32", map.path_of("precision")));
  return model;
}

}  // namespace ringwright::workload
