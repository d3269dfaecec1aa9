#include "workload/model/delta_net.h"

#include <algorithm>

#include "workload/model/model_shape.h"

namespace ringwright::workload {

// Megatron-LM, linear_attention_freq: n - 1 layers of linear attention, then one of attention. Multi-token prediction
// has a layer like the last one.
bool has_delta_net(const ModelShape& shape, std::int64_t layer) {
  if (!shape.delta_net || shape.delta_net->full_every == 0) return false;
  return (std::min(layer, shape.layers - 1) + 1) % shape.delta_net->full_every != 0;
}

// Megatron's GatedDeltaNet: GEMMs and convolution split by heads; a decay and a time-step bias for each head of values;
// one norm for all heads, which every rank holds.
std::vector<ParameterTensor> delta_net_tensors(const ModelShape& shape, std::int64_t tp) {
  const DeltaNetShape& net = *shape.delta_net;
  const std::int64_t norm = shape.normalization == Normalization::kLayerNorm ? 2 : 1;
  std::vector<ParameterTensor> tensors;
  tensors.push_back({.name = "delta net norm", .elements = norm * shape.hidden, .replicated = true});
  tensors.push_back({.name = "delta net in", .elements = shape.hidden * (net.projected() / tp)});
  tensors.push_back({.name = "delta net convolution bias", .elements = net.kernel * (net.convolved() / tp)});
  tensors.push_back({.name = "delta net heads bias", .elements = 2 * net.value_heads / tp});
  tensors.push_back({.name = "delta net gated norm", .elements = norm * net.value_size, .replicated = true});
  tensors.push_back({.name = "delta net out", .elements = net.values() / tp * shape.hidden});
  return tensors;
}

// As Megatron-LM counts them (training.py, gdn_layer_flops): both GEMMs, the convolution, and four products of a state
// with a vector for each head and token.
Flops delta_net_forward_flops(const ModelShape& shape, std::int64_t sequences) {
  const DeltaNetShape& net = *shape.delta_net;
  const auto tokens = static_cast<double>(sequences * shape.sequence);
  const std::int64_t gemms = shape.hidden * (net.projected() + net.values());
  const std::int64_t states = 4 * net.value_heads * net.value_size * net.value_size;
  return Flops(2.0 * tokens * static_cast<double>(gemms + net.kernel * net.convolved() + states));
}

}  // namespace ringwright::workload
