// How experts are spread over ranks, how tokens reach them, and how unevenly the router chooses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::workload {

// Megatron's names. All-to-all: each rank sends a token to the ranks of its experts, once for each expert. All-gather:
// every rank gets every token. Flex (DeepEP, github.com/deepseek-ai/DeepEP): a token crosses to another host once, and
// is forwarded inside, to each rank once.
enum class Dispatcher { kAllToAll, kAllGather, kFlex };
// Libraries behind the flexible dispatcher. HybridEP writes tokens in the order of their experts, where permutation is
// fused; after DeepEP another kernel does.
enum class FlexBackend { kDeepEp, kHybridEp };

struct ExpertOptions {
  int ep = 1;   // ranks over which the experts of a layer are spread
  int etp = 1;  // ranks over which each expert is split
  Dispatcher dispatcher = Dispatcher::kAllToAll;
  FlexBackend backend = FlexBackend::kDeepEp;
  bool overlap_exchange = false;  // tokens travel while another microbatch's pass in the other direction is computed
  bool delay_wgrad = false;       // weight gradients of experts are computed while those of the tokens travel
  bool paged_stash = false;       // buffers of tokens have a fixed size: the host need not know their number
  bool fp8_dispatch = false;     // tokens are dispatched in fp8 with one scale per 128 values
  bool overlap_shared = false;   // shared experts compute during the dispatch of tokens
  double capacity = 0.0;         // capacity in tokens, relative to an equal share; 0: unlimited
  bool pad_to_capacity = false;  // every expert computes its whole capacity
  int host_ranks = 1;            // GPUs of a host, among which a flex dispatcher forwards
  std::vector<double> load;      // by expert-parallel rank: its tokens relative to an equal share; empty: all equal
  [[nodiscard]] double load_of(int rank) const { return load.empty() ? 1.0 : load[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool is_flex() const { return ep > 1 && dispatcher == Dispatcher::kFlex; }
  // Whether every rank gets every token.
  [[nodiscard]] bool to_all() const { return ep > 1 && dispatcher == Dispatcher::kAllGather; }
  // The host reads how many tokens each expert has, to size buffers and GEMMs: their number is fixed only where experts
  // are padded to a capacity. A capacity alone drops tokens, and how many remain depends on the routing (Megatron-LM,
  // token_dispatcher.py: cuda_sync_point).
  [[nodiscard]] bool host_sizes() const { return !pad_to_capacity && !paged_stash; }
  [[nodiscard]] bool loads_differ() const {
    return std::ranges::adjacent_find(load, std::not_equal_to()) != load.end();
  }
  // Of the most loaded rank: all wait for it.
  [[nodiscard]] double hottest() const;
  // Expert-parallel ranks that are neighbours on one host, and the number of such hosts.
  [[nodiscard]] int inner() const;
  [[nodiscard]] int outer() const { return ep / inner(); }

  friend bool operator==(const ExpertOptions&, const ExpertOptions&) = default;
};

// Reads the expert keys of the `parallel` map; `tp` is the default of the experts' tensor-parallel size.
struct ExpertContext {
  const ModelShape& shape;
  const ConfigMap& model_map;
  int tp = 1;
  int ranks = 1;  // of one pipeline stage: tp x cp x dp
  int host_ranks = 1;
};
[[nodiscard]] ExpertOptions read_expert_options(ConfigMap& parallel, const ExpertContext& context);

}  // namespace ringwright::workload
