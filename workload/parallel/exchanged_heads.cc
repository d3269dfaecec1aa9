#include "workload/parallel/exchanged_heads.h"

#include <algorithm>
#include <array>

#include "core/base/check.h"
#include "workload/kernels/delta_net_kernels.h"
#include "workload/kernels/mamba_kernels.h"

namespace ringwright::workload {
namespace {

using enum LayerSection;

struct CutBody {
  LayerSection body, first, middle, last;
};
// Backward, the last GEMM's gradients come first.
constexpr std::array kCutBodies{
    CutBody{kMamba, kMambaIn, kMambaScan, kMambaOut},
    CutBody{kMambaBackward, kMambaOutBackward, kMambaScanBackward, kMambaInBackward},
    CutBody{kDeltaNet, kDeltaNetIn, kDeltaNetRule, kDeltaNetOut},
    CutBody{kDeltaNetBackward, kDeltaNetOutBackward, kDeltaNetRuleBackward, kDeltaNetInBackward}};

const CutBody& cut_body(LayerSection body) {
  const auto* found = std::ranges::find(kCutBodies, body, &CutBody::body);
  CHECK(found != kCutBodies.end(), "the body of a layer with a state");
  return *found;
}

bool is_delta_net(LayerSection body) {
  return body == kDeltaNet || body == kDeltaNetBackward;
}
bool is_forward(LayerSection body) {
  return body == kDeltaNet || body == kMamba;
}

}  // namespace

bool ExchangedHeads::cuts(LayerSection body) const {
  return stream_ && std::ranges::find(kCutBodies, body, &CutBody::body) != kCutBodies.end();
}
LayerSection ExchangedHeads::first_of(LayerSection body) {
  return cut_body(body).first;
}
LayerSection ExchangedHeads::last_of(LayerSection body) {
  return cut_body(body).last;
}

void ExchangedHeads::exchange(ProgramWriter& writer, std::int64_t columns) {
  const KernelContext& context = sections_.context();
  const auto value_bytes = static_cast<std::int64_t>(bytes_per_element(context.training.precision));
  const Bytes bytes(context.tokens() * columns * value_bytes);
  writer.wait(writer.collective(*stream_, {.kind = CollectiveKind::kAllToAll, .bytes = bytes}, "cp alltoall"));
}

void ExchangedHeads::exchange_inputs(ProgramWriter& writer, LayerSection body) {
  const KernelContext& context = sections_.context();
  for (const std::int64_t columns : is_delta_net(body) ? delta_net_exchange(context) : mamba_exchange(context)) {
    exchange(writer, columns);
  }
}

void ExchangedHeads::exchange_result(ProgramWriter& writer, LayerSection body) {
  exchange(writer, is_delta_net(body) ? delta_net_result(sections_.context()) : mamba_result(sections_.context()));
}

// Megatron-LM's checkpoint of the gated norm contains the exchange of its result.
void ExchangedHeads::again(ProgramWriter& writer, LayerSection body) {
  if (body != kDeltaNetBackward || !sections_.context().training.recomputes(&RecomputedModules::gated_norm)) return;
  writer.compute(sections_[kDeltaNetGateAgain]);
  exchange_result(writer, body);
}

void ExchangedHeads::between(ProgramWriter& writer, LayerSection body) {
  const LayerSection middle = cut_body(body).middle;
  if (is_forward(body)) {
    exchange_inputs(writer, body);
    writer.compute(sections_[middle]);
    return exchange_result(writer, body);
  }
  exchange_result(writer, body);
  writer.compute(sections_[middle]);
  exchange_inputs(writer, body);
}

void ExchangedHeads::write(ProgramWriter& writer, LayerSection body) {
  again(writer, body);
  sections_.write(writer, first_of(body));
  between(writer, body);
  sections_.write(writer, last_of(body));
}

}  // namespace ringwright::workload
