// How experts are spread over ranks, how tokens reach them, and how unevenly the router chooses.
#pragma once

#include <cstdint>
#include <vector>

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::workload {

// Megatron's names. All-to-all: each rank sends a token to the ranks of its experts. All-gather: every rank gets every
// token. Flex (DeepEP, github.com/deepseek-ai/DeepEP): a token crosses to another host once, and is handed on inside.
enum class Dispatcher { kAllToAll, kAllGather, kFlex };

struct ExpertOptions {
  int ep = 1;   // ranks over which the experts of a layer are spread
  int etp = 1;  // ranks over which each expert is split
  Dispatcher dispatcher = Dispatcher::kAllToAll;
  bool fp8_dispatch = false;     // tokens travel to experts in fp8 with a scale for 128 values
  bool overlap_shared = false;   // shared experts compute while tokens travel
  double capacity = 0.0;         // tokens that an expert takes, against an equal share; 0: all that come
  bool pad_to_capacity = false;  // every expert computes its whole capacity
  int host_ranks = 1;            // GPUs of a host, among which a flex dispatcher hands on
  std::vector<double> load;      // by expert-parallel rank: its tokens against an equal share; empty: all equal
  [[nodiscard]] double load_of(int rank) const { return load.empty() ? 1.0 : load[static_cast<std::size_t>(rank)]; }
  // Of the rank that gets most: all wait for it.
  [[nodiscard]] double hottest() const;
  // Expert-parallel ranks that are neighbours on one host, and the number of such hosts.
  [[nodiscard]] int inner() const;
  [[nodiscard]] int outer() const { return ep / inner(); }
};

// Reads the keys of the `parallel` map that speak of experts; `tp` is the default of their tensor-parallel size.
struct ExpertContext {
  const ModelShape& shape;
  const ConfigMap& model_map;
  int tp = 1;
  int ranks = 1;  // of one pipeline stage: tp x cp x dp
  int host_ranks = 1;
};
[[nodiscard]] ExpertOptions read_expert_options(ConfigMap& parallel, const ExpertContext& context);

// Hosts that a token visits: at most the group limit, else what follows from a random choice of experts.
[[nodiscard]] double hosts_visited(const ExpertShape& experts, int hosts);

}  // namespace ringwright::workload
