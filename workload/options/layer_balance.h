// Contiguous chunks of layers with the least maximum cost, as even as that allows: dynamic programming over chunks and
// layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace ringwright::workload {

// `first` and `last` are added to the ends: embedding and logits.
struct LayerCosts {
  std::vector<double> layers;
  double first = 0.0;
  double last = 0.0;
};

// Of layers of these costs over any number of chunks: what is found for some serves more of them, too.
class LayerBalance {
 public:
  explicit LayerBalance(LayerCosts costs);

  [[nodiscard]] std::vector<std::int64_t> over(int parts);

 private:
  using Score = std::pair<double, double>;  // the maximum, and the sum of squares
  void add_part();

  LayerCosts costs_;
  std::vector<double> before_;            // of the first layers: sums of costs
  std::vector<Score> best_;               // by number of layers, on the chunks so far, none of them the last
  std::vector<std::uint32_t> cuts_;       // by chunk and number of layers: those before the chunk
  std::vector<std::uint32_t> last_cuts_;  // the same of all layers, where the chunk is the last
  bool settled_ = false;                  // further chunks are as the last one here: one more gained nothing
};

[[nodiscard]] std::vector<std::int64_t> balance_layers(const LayerCosts& costs, int parts);
// The same on chunks of different speed: `costs` by chunk, each of all layers. A chunk takes at most `most` layers;
// empty: any number. Nothing where they do not hold all layers together.
[[nodiscard]] std::optional<std::vector<std::int64_t>> balance_layers_on(std::span<const LayerCosts> costs,
                                                                         std::span<const std::int64_t> most);

}  // namespace ringwright::workload
