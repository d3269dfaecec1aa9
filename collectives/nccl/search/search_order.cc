#include "collectives/nccl/search/search_order.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace ringwright::collectives {
namespace {

constexpr int kWhole = 1000;  // rates are compared in whole GB/s

}  // namespace

NcclOrder::NcclOrder(const NcclTopology& topology) : topology_(topology) {
  lists_.resize(static_cast<std::size_t>((topology.nets() + 1) * topology.gpus()));
}

NcclOrder::Near NcclOrder::near(int gpu, int to) const {
  const NcclTopology::Route& route = topology_.route(gpu, to);
  return {.rate = route.rate / kWhole, .hops = route.hops()};
}

bool NcclOrder::identical(int gpu, std::span<const int> others) const {
  return std::ranges::all_of(others, [&](int to) { return near(gpu, to) == near(gpu, others.front()); });
}

std::vector<int> NcclOrder::sorted(int gpu, int net) const {
  const int gpus = topology_.gpus();
  std::vector<int> order;
  for (int turn = 1; turn < gpus; ++turn) {
    const int to = (gpu + turn) % gpus;
    if (topology_.route(gpu, to).hops() > 0) order.push_back(to);
  }
  const auto score = [&](int to) {
    const Near here = near(gpu, to);
    if (net < 0) return std::tuple(0, 0, 0, -here.rate, here.hops);
    const NcclTopology::Route& route = topology_.route(topology_.net(net), to);
    return std::tuple(-(route.rate / kWhole), -topology_.gpu_slot(to) / kWhole, route.hops(), -here.rate, here.hops);
  };
  std::ranges::stable_sort(order, {}, score);
  return order;
}

std::span<const int> NcclOrder::after(int gpu, int net) {
  std::vector<int>& list = lists_[static_cast<std::size_t>((net + 1) * topology_.gpus() + gpu)];
  if (list.empty()) list = sorted(gpu, net);
  return list;
}

}  // namespace ringwright::collectives
