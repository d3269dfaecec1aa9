#include "workload/model/mamba.h"

#include "workload/model/model_shape.h"

namespace ringwright::workload {

std::optional<LayerHalves> halves_of_letter(char letter) {
  switch (letter) {
    case 'M': return LayerHalves{.mixer = Mixer::kMamba, .mlp = MlpKind::kNone};
    case 'G': return LayerHalves{.mixer = Mixer::kDeltaNet, .mlp = MlpKind::kNone};
    case '*': return LayerHalves{.mixer = Mixer::kAttention, .mlp = MlpKind::kNone};
    case '-': return LayerHalves{.mixer = Mixer::kNone, .mlp = MlpKind::kDense};
    case 'E': return LayerHalves{.mixer = Mixer::kNone, .mlp = MlpKind::kExperts};
    default: return std::nullopt;
  }
}

std::optional<LayerHalves> halves_of_predictor(std::string_view letters) {
  if (letters.empty() || letters.size() > 2) return std::nullopt;
  const std::optional<LayerHalves> first = halves_of_letter(letters.front());
  const std::optional<LayerHalves> last = halves_of_letter(letters.back());
  if (!first || !last || letters.size() == 1) return first;
  if (first->mixer == Mixer::kNone || last->mlp == MlpKind::kNone) return std::nullopt;
  return LayerHalves{.mixer = first->mixer, .mlp = last->mlp};
}

LayerHalves halves_of(const ModelShape& shape, std::int64_t layer) {
  if (!shape.hybrid) {
    return {.mixer = has_delta_net(shape, layer) ? Mixer::kDeltaNet : Mixer::kAttention,
            .mlp = has_experts(shape, layer) ? MlpKind::kExperts : MlpKind::kDense};
  }
  if (layer >= shape.layers) return *halves_of_predictor(shape.hybrid->predictor);
  return *halves_of_letter(shape.hybrid->order[static_cast<std::size_t>(layer)]);
}

// Megatron's MambaMixer: GEMMs split by heads and groups; a time-step bias, a decay and a skip weight for each head;
// the gated norm's weight for each channel.
std::vector<ParameterTensor> mamba_tensors(const ModelShape& shape, std::int64_t tp) {
  const MambaShape& mamba = shape.hybrid->mamba;
  std::vector<ParameterTensor> tensors;
  tensors.push_back({.name = "mamba norm", .elements = shape.hidden, .replicated = true});
  tensors.push_back({.name = "mamba in", .elements = shape.hidden * (mamba.projected() / tp)});
  tensors.push_back({.name = "mamba convolution bias", .elements = (mamba.kernel + 1) * (mamba.convolved() / tp)});
  tensors.push_back({.name = "mamba heads bias", .elements = 3 * mamba.heads / tp});
  tensors.push_back({.name = "mamba gated norm bias", .elements = mamba.inner() / tp});
  tensors.push_back({.name = "mamba out", .elements = mamba.inner() / tp * shape.hidden});
  return tensors;
}

// As Megatron-LM counts them (training.py, mamba_layer_flops): both GEMMs, and 7 operations for each channel and state.
Flops mamba_forward_flops(const ModelShape& shape, std::int64_t sequences) {
  const MambaShape& mamba = shape.hybrid->mamba;
  const auto tokens = static_cast<double>(sequences * shape.sequence);
  const auto gemms = static_cast<double>(shape.hidden * (mamba.projected() + mamba.inner()));
  return Flops(tokens * (2.0 * gemms + 7.0 * static_cast<double>(mamba.inner() * mamba.state)));
}

}  // namespace ringwright::workload
