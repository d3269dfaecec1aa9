// Around the delta rule are Megatron-LM's operators (ssm/gated_delta_net/gdn.py, kda.py), which repeat queries and keys
// for all H heads of values.
#include "workload/kernels/delta_net_kernels.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "workload/kernels/delta_rule.h"
#include "workload/kernels/pointwise_kernels.h"

namespace ringwright::workload {
namespace {

using enum KernelFamily;

void add_net_convolution(KernelMaker& make, const NetSizes& sizes, const char* name) {
  make.stream(kElementwise, name, sizes.tokens * sizes.convolved, {.values = 2});
}

void add_decays(KernelMaker& make, const NetSizes& sizes) {
  make.stream(kElementwise, "delta net decays over chunks", sizes.tokens * sizes.decays,
              {.values = 1, .other_bytes = kRateBytes});
}

// Queries and keys lie between the values of each token: they are copied before their norm and then repeated; values
// and gates are copied.
void add_inputs(KernelMaker& make, const NetSizes& sizes) {
  add_net_convolution(make, sizes, "delta net convolution");
  make.stream(kCopy, "delta net queries and keys copy", sizes.tokens * 2 * sizes.keys, {.values = 2});
  make.stream(kNorm, "delta net query and key norm", sizes.tokens * 2 * sizes.keys, {.values = 2});
  if (sizes.repeats()) {
    const double written = static_cast<double>(sizes.repeated) / static_cast<double>(sizes.keys);
    make.stream(kCopy, "delta net queries and keys repeated", sizes.tokens * 2 * sizes.keys, {.values = 1.0 + written});
  }
  for (const char* name : {"delta net values copy", "delta net gates copy"}) {
    make.stream(kCopy, name, sizes.tokens * sizes.values, {.values = 2});
  }
  if (sizes.net.channels) {  // decays are copied, made and summed over chunks
    make.stream(kElementwise, "delta net rates", sizes.tokens * sizes.heads, {.values = 1, .other_bytes = kRateBytes});
    make.stream(kCopy, "delta net decays copy", sizes.tokens * sizes.decays, {.values = 2});
    return add_decays(make, sizes);
  }
  make.stream(kElementwise, "delta net rates", sizes.tokens * sizes.heads, {.values = 3, .other_bytes = kRateBytes});
  make.stream(kElementwise, "delta net decays over chunks", sizes.tokens * sizes.heads,
              {.other_bytes = 2 * kRateBytes});
}

// The norm is a kernel of its own. More than one sequence is copied into the order of the residual stream.
void add_gated_norm(KernelMaker& make, const KernelContext& context, const NetSizes& sizes) {
  const std::int64_t elements = sizes.tokens * sizes.values;
  make.stream(kNorm, "delta net gated norm", elements, {.values = 2});
  make.stream(kElementwise, "delta net gate", elements, {.values = 3});
  if (context.training.micro_batch > 1) make.stream(kCopy, "delta net result copy", elements, {.values = 2});
}

// Columns are sorted by receiver and the parts joined; in zig-zag order those of the sequence are sorted, too.
enum class NetExchange { kToHeads, kToTokens };
void add_net_exchange(KernelMaker& make, const KernelContext& context, NetExchange to, std::int64_t columns) {
  if (context.cp == 1) return;
  const int copies = (to == NetExchange::kToHeads ? 2 : 1) + (context.zigzag ? 1 : 0);
  for (int i = 0; i < copies; ++i) make.stream(kCopy, "delta net heads copy", make.tokens * columns, {.values = 2});
}

// Of the GEMMs, for tokens of this rank.
struct NetColumns {
  explicit NetColumns(const KernelMaker& make)
      : net(*make.shape.delta_net),
        of_heads(net.channels ? 0 : 2 * net.value_heads / make.tp()),
        wide(net.first_columns() / make.tp() - of_heads),
        decays(net.keys() / make.tp()),
        values(net.values() / make.tp()) {}

  // Both narrow GEMMs of decays, and of gates: the first for tokens of this rank's part of the sequence, of which every
  // rank gathers the results.
  struct Narrow {
    const char* name;
    std::int64_t rank, columns;
  };
  [[nodiscard]] std::vector<Narrow> narrow() const {
    if (!net.has_narrow_gemms()) return {};
    return {{"delta net decay", net.channels->decay_rank, decays}, {"delta net gate", net.channels->gate_rank, values}};
  }

  const DeltaNetShape& net;
  std::int64_t of_heads, wide, decays, values;
};

void add_narrow(KernelMaker& make, const NetColumns& columns) {
  for (const NetColumns::Narrow& pair : columns.narrow()) {
    const std::string name = pair.name;
    if (pair.rank > 0) make.local_linear(name + " down", make.shape.hidden, pair.rank);
    make.linear(name + " up", pair.rank > 0 ? pair.rank : make.shape.hidden, pair.columns);
  }
  if (columns.net.channels) make.linear("delta net rate", make.shape.hidden, columns.net.value_heads);
}

// Gradients of the token by all of its GEMMs are added.
void add_narrow_dgrad(KernelMaker& make, const NetColumns& columns) {
  const auto add = [&](std::int64_t tokens) {
    make.stream(kElementwise, "delta net input gradient sum", tokens * make.shape.hidden, {.values = 3});
  };
  for (const NetColumns::Narrow& pair : columns.narrow()) {
    const std::string name = pair.name;
    make.dgrad(name + " up dgrad", pair.rank > 0 ? pair.rank : make.shape.hidden, pair.columns);
    if (pair.rank > 0) make.local_dgrad(name + " down dgrad", make.shape.hidden, pair.rank);
    add(pair.rank > 0 ? make.local_tokens : make.tokens);
  }
  if (!columns.net.channels) return;
  make.dgrad("delta net rate dgrad", make.shape.hidden, columns.net.value_heads);
  add(make.local_tokens);
}

void add_narrow_wgrad(KernelMaker& make, const NetColumns& columns) {
  for (const NetColumns::Narrow& pair : columns.narrow()) {
    const std::string name = pair.name;
    make.wgrad(name + " up wgrad", pair.rank > 0 ? pair.rank : make.shape.hidden, pair.columns);
    if (pair.rank > 0) make.local_wgrad(name + " down wgrad", make.shape.hidden, pair.rank);
  }
  if (columns.net.channels) make.wgrad("delta net rate wgrad", make.shape.hidden, columns.net.value_heads);
}

// Of a token before the delta rule.
std::int64_t all_columns(const KernelMaker& make) {
  return make.shape.delta_net->projected() / make.tp();
}

void add_net_in(KernelMaker& make, const KernelContext& context) {
  const NetColumns columns(make);
  make.linears("delta net in", make.shape.hidden, {columns.wide, columns.of_heads});
  add_narrow(make, columns);
  add_net_exchange(make, context, NetExchange::kToHeads, all_columns(make));
}

void add_net_rule(KernelMaker& make, const KernelContext& context) {
  const NetSizes sizes(make, context);
  add_inputs(make, sizes);
  add_delta_rule(make, context, sizes);
  add_gated_norm(make, context, sizes);
  add_net_exchange(make, context, NetExchange::kToTokens, NetColumns(make).values);
}

void add_net_out(KernelMaker& make) {
  make.linear("delta net out", NetColumns(make).values, make.shape.hidden);
}

void add_net(KernelMaker& make, const KernelContext& context) {
  add_net_in(make, context);
  add_net_rule(make, context);
  add_net_out(make);
}

// Gradients of the parts are joined twice: those of queries, keys and values, and these with gates and rates.
void add_inputs_backward(KernelMaker& make, const NetSizes& sizes) {
  if (sizes.net.channels) {  // summed over chunks, then through the gate
    make.stream(kElementwise, "delta net decay sums backward", sizes.tokens * sizes.decays,
                {.other_bytes = 2 * kRateBytes});
    make.stream(kElementwise, "delta net decays backward", sizes.tokens * sizes.decays,
                {.values = 2, .other_bytes = kRateBytes});
    make.stream(kElementwise, "delta net rates backward", sizes.tokens * sizes.heads,
                {.values = 2, .other_bytes = kRateBytes});
  } else {
    make.stream(kElementwise, "delta net rates backward", sizes.tokens * sizes.heads,
                {.values = 4, .other_bytes = 4 * kRateBytes});
  }
  if (sizes.repeats()) {
    const double read = static_cast<double>(sizes.repeated) / static_cast<double>(sizes.keys);
    make.stream(kElementwise, "delta net queries and keys gradient sum", sizes.tokens * 2 * sizes.keys,
                {.values = 1.0 + read});
  }
  make.stream(kNorm, "delta net query and key norm backward", sizes.tokens * 2 * sizes.keys, {.values = 3});
  make.stream(kCopy, "delta net gradients joined", sizes.tokens * sizes.convolved, {.values = 2});
  add_net_convolution(make, sizes, "delta net convolution again");
  make.stream(kElementwise, "delta net convolution backward", sizes.tokens * sizes.convolved, {.values = 4});
  make.stream(kCopy, "delta net gradients joined", sizes.tokens * sizes.projected, {.values = 2});
}

void add_net_out_dgrad(KernelMaker& make) {
  make.gathered_dgrad("delta net out dgrad", NetColumns(make).values, make.shape.hidden);
}

// The exchange is a part of the module.
void add_gate_again(KernelMaker& make, const KernelContext& context) {
  if (!context.training.recomputes(&RecomputedModules::gated_norm)) return;
  add_gated_norm(make, context, NetSizes(make, context));
  add_net_exchange(make, context, NetExchange::kToTokens, NetColumns(make).values);
}

void add_net_out_wgrad(KernelMaker& make, const KernelContext& context) {
  make.wgrad("delta net out wgrad", NetColumns(make).values, make.shape.hidden);
  add_net_exchange(make, context, NetExchange::kToTokens, NetColumns(make).values);
}

void add_net_out_backward(KernelMaker& make, const KernelContext& context) {
  add_net_out_dgrad(make);
  add_net_out_wgrad(make, context);
}

void add_net_rule_backward(KernelMaker& make, const KernelContext& context) {
  const NetSizes sizes(make, context);
  const std::int64_t elements = sizes.tokens * sizes.values;
  if (context.training.micro_batch > 1) make.stream(kCopy, "delta net result copy", elements, {.values = 2});
  make.stream(kElementwise, "delta net gate backward", elements, {.values = 5});
  make.stream(kNorm, "delta net gated norm backward", elements, {.values = 3});
  if (sizes.net.channels) add_decays(make, sizes);  // again
  add_delta_rule_backward(make, context, sizes);
  add_inputs_backward(make, sizes);
}

void add_net_in_backward(KernelMaker& make, const KernelContext& context) {
  add_net_exchange(make, context, NetExchange::kToHeads, all_columns(make));
}

void add_net_backward(KernelMaker& make, const KernelContext& context) {
  add_net_out_dgrad(make);
  add_gate_again(make, context);
  add_net_out_wgrad(make, context);
  add_net_rule_backward(make, context);
  add_net_in_backward(make, context);
}

constexpr std::array kNetSections{LayerSection::kDeltaNetNorm,
                                  LayerSection::kDeltaNet,
                                  LayerSection::kDeltaNetIn,
                                  LayerSection::kDeltaNetRule,
                                  LayerSection::kDeltaNetOut,
                                  LayerSection::kDeltaNetOutBackward,
                                  LayerSection::kDeltaNetGateAgain,
                                  LayerSection::kDeltaNetRuleBackward,
                                  LayerSection::kDeltaNetInBackward,
                                  LayerSection::kDeltaNetResidual,
                                  LayerSection::kDeltaNetResidualBackward,
                                  LayerSection::kDeltaNetBackward,
                                  LayerSection::kDeltaNetDgrad,
                                  LayerSection::kDeltaNetWgrad,
                                  LayerSection::kDeltaNetNormBackward};

}  // namespace

bool is_of_delta_net(LayerSection section) {
  return std::ranges::find(kNetSections, section) != kNetSections.end();
}

void add_delta_net_sections(LayerSection section, const KernelContext& context, KernelMaker& make) {
  const std::int64_t elements = make.local_tokens * make.shape.hidden;
  const NetColumns columns(make);
  if (section == LayerSection::kDeltaNetNorm) return add_norm(make, "delta net norm", elements);
  if (section == LayerSection::kDeltaNet) return add_net(make, context);
  if (section == LayerSection::kDeltaNetIn) return add_net_in(make, context);
  if (section == LayerSection::kDeltaNetRule) return add_net_rule(make, context);
  if (section == LayerSection::kDeltaNetOut) return add_net_out(make);
  if (section == LayerSection::kDeltaNetOutBackward) return add_net_out_backward(make, context);
  if (section == LayerSection::kDeltaNetGateAgain) return add_gate_again(make, context);
  if (section == LayerSection::kDeltaNetRuleBackward) return add_net_rule_backward(make, context);
  if (section == LayerSection::kDeltaNetInBackward) return add_net_in_backward(make, context);
  if (section == LayerSection::kDeltaNetResidual) return add_residual(make);
  if (section == LayerSection::kDeltaNetResidualBackward) return add_residual_backward(make, OutputBias::kNone);
  if (section == LayerSection::kDeltaNetBackward) return add_net_backward(make, context);
  if (section == LayerSection::kDeltaNetWgrad) {
    add_narrow_wgrad(make, columns);
    return make.wgrads("delta net in wgrad", make.shape.hidden, {columns.wide, columns.of_heads});
  }
  if (section == LayerSection::kDeltaNetDgrad) {
    if (context.training.recomputes(&RecomputedModules::norms)) add_norm(make, "delta net norm", elements);
    add_narrow_dgrad(make, columns);
    return make.dgrads("delta net in dgrad", make.shape.hidden, {columns.wide, columns.of_heads});
  }
  add_norm_backward(make, "delta net norm", elements);
  add_residual_gradient(make, elements);
}

// Megatron-LM exchanges the result of each GEMM with a call of its own.
std::vector<std::int64_t> delta_net_exchange(const KernelContext& context) {
  const DeltaNetShape& net = *context.shape.delta_net;
  std::vector<std::int64_t> calls{net.first_columns() / context.tp};
  if (net.has_narrow_gemms()) calls.insert(calls.end(), {net.keys() / context.tp, net.values() / context.tp});
  if (net.channels) calls.push_back(net.value_heads / context.tp);
  return calls;
}

std::int64_t delta_net_result(const KernelContext& context) {
  return NetColumns(KernelMaker(context)).values;
}

}  // namespace ringwright::workload
