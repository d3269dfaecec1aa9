// What one layout finds and others of the same model need again: verdicts on orders of passes, costs and splits of
// layers, times of points, and the last order. Each depends on its key alone, so that a layout is read the same with
// and without it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "workload/kernels/layer_kernels.h"
#include "workload/layout/last_order.h"
#include "workload/layout/stage_chunks.h"
#include "workload/layout/values_by_key.h"
#include "workload/options/layer_balance.h"

namespace ringwright::workload {

// Of one thread.
struct KnownLayouts {
  std::map<OrderKey, std::string> problem_of_order;  // empty: valid

  // By seconds of the layers, and of what comes before and after them.
  using BalanceKey = std::tuple<std::vector<double>, double, double>;
  std::map<BalanceKey, LayerBalance> balanced;

  // Of one compute model. The costs of layers whose forward pass is recomputed so many times.
  struct LayerKey {
    KernelContext context;
    double again = 0.0;
    friend bool operator==(const LayerKey&, const LayerKey&) = default;
  };
  ValuesByKey<LayerKey, LayerBalance*> balance_of_layers;  // each one of `balanced`

  // Of one compute model, and one machine's calls: the passes through the points of a stage, without (false) or with
  // its calls. Kernels follow from the context. Calls during a pass are among tensor-, context- and expert-parallel
  // ranks: neighbours of one stage, whatever the numbers of stages and replicas, and however parameters are sharded.
  struct PointKey {
    KernelContext context;
    ContextExchange exchange = ContextExchange::kRing;
    bool balanced = true;  // context-parallel ranks
    bool calls = false;
    friend bool operator==(const PointKey&, const PointKey&) = default;
  };
  ValuesByKey<PointKey, std::map<PointKind, PassTimes>> point_times;

  LastOrder order;
};

// The number by which settings with this context are found.
[[nodiscard]] std::size_t number_of(const KernelContext& context);

}  // namespace ringwright::workload
