// What reading a layout finds and other layouts of the same model need again: verdicts on orders of passes, and splits
// of layers. Each depends on its key alone, so that a layout is read the same with and without it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ringwright::workload {

// Of one thread.
struct KnownLayouts {
  // Everything that a generated order depends on.
  struct OrderKey {
    std::string schedule;
    int stages = 1;
    int chunks = 1;
    std::int64_t microbatches = 1;
    int group = 0;
    bool joined = false;  // backward passes to forward passes, so that exchanges of experts overlap
    friend auto operator<=>(const OrderKey&, const OrderKey&) = default;
  };
  std::map<OrderKey, std::string> problem_of_order;  // empty: valid

  // Seconds of the layers, of what comes before and after them, and the number of model chunks.
  using BalanceKey = std::tuple<std::vector<double>, double, double, int>;
  std::map<BalanceKey, std::vector<std::int64_t>> balanced;
};

}  // namespace ringwright::workload
