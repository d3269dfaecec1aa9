// The delta rule in chunks of C tokens (Yang et al., arXiv 2412.06464, section 3.3), kernel by kernel as
// flash-linear-attention 0.5 runs it (ops/gated_delta_rule/chunk.py); around it Megatron-LM's operators
// (ssm/gated_delta_net/gdn.py), which repeat queries and keys for all H heads of values. FLOPs for each token and head,
// 2 dk dv for a product with a state, 2 C d within a chunk:
//
//     keys' products and inverse of their triangle      C, dk; the inverse's own arithmetic is small
//     w and u, from keys and values                     C, dk + dv
//     states, chunk after chunk                         2 states: w times a state, keys' products with what is left
//     result                                            a state; C, dk + dv
//
// Backward, w, u and the states are computed again; gradients of values within the chunk take C, dk + dv; those of
// states three states, chunk after chunk; those of queries, keys and w three states and C, 3 dk + dv; those of w and u
// C, 5 dk + 2 dv + 2 C. Bytes: each tensor once for each kernel; states are written in the working type.
//
// Triton's kernels are costed as batched GEMMs of those sizes. A block goes through the chunks of its sequence one
// after another for the states: they are GEMMs of dk x dv, as long as the sequence, in steps (serial_kernels.cc).
// docs/hybrid-models.md compares the sums with measurements.
#include "workload/kernels/delta_net_kernels.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "workload/kernels/pointwise_kernels.h"

namespace ringwright::workload {
namespace {

using enum KernelFamily;

constexpr std::int64_t kChunk = DeltaNetShape::kChunk;
constexpr double kRateBytes = 4.0;  // of a decay, in fp32

// On this rank: columns of a token, and what a microbatch has. Context-parallel ranks exchange heads for tokens around
// the delta rule, one call each time (gated_delta_net/common.py: a2a_cp_to_hp, a2a_hp_to_cp): each has whole sequences
// of its heads.
struct NetSizes {
  NetSizes(const KernelMaker& make, const KernelContext& context)
      : net(*make.shape.delta_net),
        heads(net.value_heads / (make.tp() * context.cp)),
        keys(net.keys() / (make.tp() * context.cp)),
        values(net.values() / (make.tp() * context.cp)),
        repeated(heads * net.key_size),
        convolved(net.convolved() / (make.tp() * context.cp)),
        projected(net.projected() / (make.tp() * context.cp)),
        tokens(make.tokens * context.cp),
        sequences(context.training.micro_batch * context.training.documents(make.shape.sequence)),
        chunks(sequences * ((tokens / std::max<std::int64_t>(1, sequences) + kChunk - 1) / kChunk)) {}

  [[nodiscard]] bool repeats() const { return repeated != keys; }
  [[nodiscard]] std::int64_t states() const { return chunks * heads * net.key_size * net.value_size; }
  [[nodiscard]] std::int64_t triangles() const { return tokens * heads * kChunk; }

  const DeltaNetShape& net;
  std::int64_t heads, keys, values;
  std::int64_t repeated;  // queries or keys for all heads of values
  std::int64_t convolved, projected;
  std::int64_t tokens, sequences, chunks;
};

// Bytes of so many values of the working type, and of the heads' decays.
double moved(const KernelContext& context, const NetSizes& sizes, std::int64_t values) {
  return static_cast<double>(values) * bytes_per_element(context.training.precision) +
         static_cast<double>(sizes.tokens * sizes.heads) * kRateBytes;
}

class DeltaRule {
 public:
  DeltaRule(KernelMaker& make, const KernelContext& context, const NetSizes& sizes)
      : make_(make),
        context_(context),
        sizes_(sizes),
        k_(sizes.tokens * sizes.repeated),
        v_(sizes.tokens * sizes.values) {}

  void forward() {
    const std::int64_t dk = sizes_.net.key_size;
    const std::int64_t dv = sizes_.net.value_size;
    in_chunks("delta net triangle", kChunk, dk, k_ + sizes_.triangles());
    states_from_keys();
    in_chunks("delta net result", dv, dk + kChunk + kChunk * dk / dv, 2 * k_ + 2 * v_ + sizes_.states());
  }

  void backward() {
    const std::int64_t dk = sizes_.net.key_size;
    const std::int64_t dv = sizes_.net.value_size;
    const std::int64_t all = sizes_.states();
    states_from_keys();
    in_chunks("delta net values gradient", dk + dv, kChunk, 2 * k_ + 2 * v_);
    through_sequences("delta net states backward", 3, 3 * k_ + 3 * v_ + all);
    in_chunks("delta net queries and keys gradient", dk, 3 * dv + 3 * kChunk + kChunk * dv / dk,
              5 * k_ + 3 * v_ + 2 * all);
    in_chunks("delta net w and u gradient", kChunk, 5 * dk + 2 * dv + 2 * kChunk, 5 * k_ + 3 * v_ + sizes_.triangles());
    make_.stream(kElementwise, "delta net keys gradient sum", k_, {.values = 3});
  }

 private:
  // Queries' and keys' gradients need these again.
  void states_from_keys() {
    const std::int64_t both = sizes_.net.key_size + sizes_.net.value_size;
    in_chunks("delta net w and u", both, kChunk, 2 * k_ + 2 * v_ + sizes_.triangles());
    through_sequences("delta net states", 2, 2 * k_ + 2 * v_ + sizes_.states());
  }

  void in_chunks(const char* name, std::int64_t n, std::int64_t k, std::int64_t values) {
    make_.batched_gemm(name, {.m = kChunk, .n = n, .k = k, .batch = sizes_.chunks * sizes_.heads},
                       moved(context_, sizes_, values));
  }

  // `products` of a state for each token.
  void through_sequences(const char* name, std::int64_t products, std::int64_t values) {
    make_.batched_gemm(name,
                       {.m = sizes_.net.key_size,
                        .n = sizes_.net.value_size,
                        .k = products * sizes_.chunks / sizes_.sequences * kChunk,
                        .batch = sizes_.sequences * sizes_.heads},
                       moved(context_, sizes_, values));
    make_.in_steps(sizes_.chunks / sizes_.sequences);
  }

  KernelMaker& make_;
  const KernelContext& context_;
  const NetSizes& sizes_;
  std::int64_t k_;  // values of keys, for all heads
  std::int64_t v_;
};

void add_net_convolution(KernelMaker& make, const NetSizes& sizes, const char* name) {
  make.stream(kElementwise, name, sizes.tokens * sizes.convolved, {.values = 2});
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
      : wide((make.shape.delta_net->convolved() + make.shape.delta_net->values()) / make.tp()),
        of_heads(2 * make.shape.delta_net->value_heads / make.tp()),
        values(make.shape.delta_net->values() / make.tp()) {}

  std::int64_t wide, of_heads, values;
};

void add_net_in(KernelMaker& make, const KernelContext& context) {
  const NetColumns columns(make);
  make.linears("delta net in", make.shape.hidden, {columns.wide, columns.of_heads});
  add_net_exchange(make, context, NetExchange::kToHeads, columns.wide + columns.of_heads);
}

void add_net_rule(KernelMaker& make, const KernelContext& context) {
  const NetSizes sizes(make, context);
  add_inputs(make, sizes);
  DeltaRule(make, context, sizes).forward();
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
  make.stream(kElementwise, "delta net rates backward", sizes.tokens * sizes.heads,
              {.values = 4, .other_bytes = 4 * kRateBytes});
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
  DeltaRule(make, context, sizes).backward();
  add_inputs_backward(make, sizes);
}

void add_net_in_backward(KernelMaker& make, const KernelContext& context) {
  const NetColumns columns(make);
  add_net_exchange(make, context, NetExchange::kToHeads, columns.wide + columns.of_heads);
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
    return make.wgrads("delta net in wgrad", make.shape.hidden, {columns.wide, columns.of_heads});
  }
  if (section == LayerSection::kDeltaNetDgrad) {
    if (context.training.recomputes(&RecomputedModules::norms)) add_norm(make, "delta net norm", elements);
    return make.dgrads("delta net in dgrad", make.shape.hidden, {columns.wide, columns.of_heads});
  }
  add_norm_backward(make, "delta net norm", elements);
  add_residual_gradient(make, elements);
}

std::int64_t delta_net_exchange(const KernelContext& context) {
  const NetColumns columns{KernelMaker(context)};
  return columns.wide + columns.of_heads;
}

std::int64_t delta_net_result(const KernelContext& context) {
  return NetColumns(KernelMaker(context)).values;
}

}  // namespace ringwright::workload
