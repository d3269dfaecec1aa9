// How layers are spread over the parts of a pipeline, where a rule or Megatron's layout string says it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::workload {

// Megatron's --pipeline-model-parallel-layout: "Et*3|(tt|)*29,m|L" has a letter for the embedding, each layer, each
// layer of multi-token prediction and the loss; '|' ends a part, X*n and (...)*n repeat, commas mean nothing.
struct LayerLayout {
  std::string problem;               // empty: it could be read
  std::size_t at = 0;                // of the problem, in the text
  std::vector<std::int64_t> layers;  // by part, in model order
};
[[nodiscard]] LayerLayout read_layer_layout(std::string_view text);

// Megatron's --decoder-first-pipeline-num-layers and -last-: those stages as told, the others alike. 0: not told.
struct EndLayers {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
// By part (chunk c of stage i is part c * stages + i); empty when layers do not come out even.
[[nodiscard]] std::vector<std::int64_t> spread_with_ends(std::int64_t layers, const EndLayers& ends, int stages,
                                                         int chunks);

// Contiguous parts whose costliest is as cheap as can be and which are as even as that allows. `first` and `last` are
// added to the ends: embedding and logits.
struct LayerCosts {
  std::vector<double> layers;
  double first = 0.0;
  double last = 0.0;
};
[[nodiscard]] std::vector<std::int64_t> balance_layers(const LayerCosts& costs, int parts);

}  // namespace ringwright::workload
