// What one layout finds and others of the same model need again: verdicts on orders of passes, splits of layers, and
// the last order. Each depends on its key alone, so that a layout is read the same with and without it.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "workload/layout/last_order.h"
#include "workload/options/layer_balance.h"

namespace ringwright::workload {

// Of one thread.
struct KnownLayouts {
  std::map<OrderKey, std::string> problem_of_order;  // empty: valid

  // By seconds of the layers, and of what comes before and after them.
  using BalanceKey = std::tuple<std::vector<double>, double, double>;
  std::map<BalanceKey, LayerBalance> balanced;

  LastOrder order;
};

}  // namespace ringwright::workload
