// The split of layers over the model chunks of a pipeline, by rule or by Megatron's layout string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::workload {

// Megatron's --pipeline-model-parallel-layout: "Et*3|(tt|)*29,m|L" has a letter for the embedding, each layer, each
// layer of multi-token prediction and the loss; '|' ends a chunk, X*n and (...)*n repeat, commas are ignored.
struct LayerLayout {
  std::string problem;               // empty: valid
  std::size_t at = 0;                // of the problem, in the text
  std::vector<std::int64_t> layers;  // by chunk, in model order
};
[[nodiscard]] LayerLayout read_layer_layout(std::string_view text);

// Megatron's --decoder-first-pipeline-num-layers and -last-: those stages as given, the others equal. 0: not given.
struct EndLayers {
  std::int64_t first = 0;
  std::int64_t last = 0;

  friend bool operator==(const EndLayers&, const EndLayers&) = default;
};
// By model chunk (chunk c of stage i has number c * stages + i); empty if layers do not divide evenly.
[[nodiscard]] std::vector<std::int64_t> spread_with_ends(std::int64_t layers, const EndLayers& ends, int stages,
                                                         int chunks);

}  // namespace ringwright::workload
