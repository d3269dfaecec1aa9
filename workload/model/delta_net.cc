#include "workload/model/delta_net.h"

#include <algorithm>

#include "workload/model/model_shape.h"

namespace ringwright::workload {

// Megatron-LM, linear_attention_freq: n - 1 layers of linear attention, then one of attention. Multi-token prediction
// has a layer like the last one.
bool has_delta_net(const ModelShape& shape, std::int64_t layer) {
  if (!shape.delta_net) return false;
  const DeltaNetShape& net = *shape.delta_net;
  const std::int64_t place = std::min(layer, shape.layers - 1);
  if (!net.full_layers.empty()) return !std::ranges::binary_search(net.full_layers, place);
  return net.full_every > 0 && (place + 1) % net.full_every != 0;
}

namespace {

// Weights between the token and its decays or gates: one GEMM of the rank's columns, or two with the first on all
// ranks.
std::int64_t narrow_weights(const ModelShape& shape, std::int64_t rank, std::int64_t columns) {
  return rank > 0 ? rank * columns : shape.hidden * columns;
}

// Decays and gates apart from the first GEMM, and the rates, which every rank has.
void add_channel_tensors(const ModelShape& shape, std::int64_t tp, std::vector<ParameterTensor>& tensors) {
  const DeltaNetShape& net = *shape.delta_net;
  const ChannelDecay& channels = *net.channels;
  tensors.push_back({.name = "delta net rates", .elements = shape.hidden * net.value_heads, .replicated = true});
  if (!net.has_narrow_gemms()) return;
  if (channels.decay_rank + channels.gate_rank > 0) {
    tensors.push_back({.name = "delta net narrow down",
                       .elements = shape.hidden * (channels.decay_rank + channels.gate_rank),
                       .replicated = true});
  }
  tensors.push_back({.name = "delta net narrow up",
                     .elements = narrow_weights(shape, channels.decay_rank, net.keys() / tp) +
                                 narrow_weights(shape, channels.gate_rank, net.values() / tp)});
}

}  // namespace

// Megatron's GatedDeltaNet: GEMMs and convolution split by heads; a decay and a time-step bias for each head of values;
// one norm for all heads, which every rank holds.
std::vector<ParameterTensor> delta_net_tensors(const ModelShape& shape, std::int64_t tp) {
  const DeltaNetShape& net = *shape.delta_net;
  const std::int64_t norm = shape.normalization == Normalization::kLayerNorm ? 2 : 1;
  std::vector<ParameterTensor> tensors;
  tensors.push_back({.name = "delta net norm", .elements = norm * shape.hidden, .replicated = true});
  tensors.push_back({.name = "delta net in", .elements = shape.hidden * (net.first_columns() / tp)});
  if (net.channels) add_channel_tensors(shape, tp, tensors);
  tensors.push_back({.name = "delta net convolution bias", .elements = net.kernel * (net.convolved() / tp)});
  tensors.push_back({.name = "delta net heads bias", .elements = (net.value_heads + net.decays()) / tp});
  tensors.push_back({.name = "delta net gated norm", .elements = norm * net.value_size, .replicated = true});
  tensors.push_back({.name = "delta net out", .elements = net.values() / tp * shape.hidden});
  return tensors;
}

// As Megatron-LM counts them (training.py, gdn_layer_flops): all GEMMs, the convolution, and four products of a state
// with a vector for each head and token.
Flops delta_net_forward_flops(const ModelShape& shape, std::int64_t sequences) {
  const DeltaNetShape& net = *shape.delta_net;
  const auto tokens = static_cast<double>(sequences * shape.sequence);
  std::int64_t gemms = shape.hidden * (net.first_columns() + net.values());
  if (net.channels) gemms += shape.hidden * net.value_heads;
  if (net.has_narrow_gemms()) {
    gemms += shape.hidden * (net.channels->decay_rank + net.channels->gate_rank) +
             narrow_weights(shape, net.channels->decay_rank, net.keys()) +
             narrow_weights(shape, net.channels->gate_rank, net.values());
  }
  const std::int64_t states = 4 * net.value_heads * net.value_size * net.value_size;
  return Flops(2.0 * tokens * static_cast<double>(gemms + net.kernel * net.convolved() + states));
}

}  // namespace ringwright::workload
