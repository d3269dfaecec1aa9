#include "collectives/nccl/search/ring_orders.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "core/base/index.h"

namespace ringwright::collectives {
namespace {

constexpr int kMostMeshGpus = 8;  // 7! orders are tried

double lanes_between(const NcclHost& host, int a, int b) {
  for (const NcclHost::Lanes& lanes : host.lanes) {
    if (std::minmax(lanes.a, lanes.b) == std::minmax(a, b)) return lanes.bandwidth.count();
  }
  return 0.0;
}

// Decomposes all lanes of a host into rings, so that each is used once. Every ring passes the first GPU, and so has one
// of its lanes; the others are tried in order. Gives up after some thousand steps, as NCCL's search does.
class Parting {
 public:
  // `lanes`: from * size + to.
  Parting(int size, std::vector<int> lanes) : size_(size), lanes_(std::move(lanes)) {}

  // Empty when no such decomposition exists or none was found.
  std::vector<std::vector<int>> find() {
    for (int from = 0; from < size_; ++from) {
      if (out_of(from) != out_of(0)) return {};
    }
    return begin_ring_order() ? ring_orders_ : std::vector<std::vector<int>>();
  }

 private:
  static constexpr int kSteps = 50'000;

  int& lane(int from, int to) { return lanes_[at(from * size_ + to)]; }
  [[nodiscard]] int out_of(int from) const {
    return std::accumulate(lanes_.begin() + from * size_, lanes_.begin() + (from + 1) * size_, 0);
  }

  bool begin_ring_order() {
    for (int to = 1; to < size_; ++to) {
      if (lane(0, to) == 0) continue;
      route_ = {0};
      return extend(to);  // some ring must take this lane; their order does not matter
    }
    return true;
  }

  bool extend(int to) {
    if (++steps_ > kSteps) return false;
    const int from = route_.back();
    --lane(from, to);
    route_.push_back(to);
    const bool found = static_cast<int>(route_.size()) == size_ ? close() : go_on();
    if (found) return true;
    route_.pop_back();
    ++lane(from, to);
    return false;
  }

  bool go_on() {
    const int from = route_.back();
    for (int to = 1; to < size_; ++to) {
      if (lane(from, to) > 0 && std::ranges::find(route_, to) == route_.end() && extend(to)) return true;
    }
    return false;
  }

  bool close() {
    const int last = route_.back();
    if (lane(last, 0) == 0) return false;
    --lane(last, 0);
    ring_orders_.push_back(route_);
    const std::vector<int> done = route_;
    if (begin_ring_order()) return true;
    route_ = done;
    ring_orders_.pop_back();
    ++lane(last, 0);
    return false;
  }

  int size_;
  std::vector<int> lanes_;
  std::vector<int> route_;
  std::vector<std::vector<int>> ring_orders_;
  int steps_ = 0;
};

std::vector<std::vector<int>> split_into_rings(const NcclHost& host, const GroupLayout& layout) {
  const std::vector<int>& members = layout.hosts.front();
  const int size = static_cast<int>(members.size());
  double thinnest = std::numeric_limits<double>::infinity();
  std::vector<double> rates(at(size * size));
  for (int a = 0; a < size; ++a) {
    for (int b = 0; b < size; ++b) {
      const double rate =
          a == b ? 0.0 : lanes_between(host, layout.gpu_of[at(members[at(a)])], layout.gpu_of[at(members[at(b)])]);
      rates[at(a * size + b)] = rate;
      if (rate > 0.0) thinnest = std::min(thinnest, rate);
    }
  }
  if (std::isinf(thinnest)) return {};
  std::vector<int> lanes;
  for (const double rate : rates) lanes.push_back(static_cast<int>(std::lround(rate / thinnest)));
  return Parting(size, std::move(lanes)).find();
}

class RingOrderSearch {
 public:
  // `closed`: the path returns to its first GPU; else it begins and ends at a NIC.
  RingOrderSearch(const NcclHost& host, const GroupLayout& layout, bool closed)
      : size_(static_cast<int>(layout.hosts.front().size())), closed_(closed) {
    lanes_.assign(at(size_ * size_), 0.0);
    load_.assign(lanes_.size(), 0.0);
    ends_.assign(at(size_), 0.0);
    const std::vector<int>& members = layout.hosts.front();
    for (int a = 0; a < size_; ++a) {
      for (int b = 0; b < size_; ++b) {
        lanes_[at(a * size_ + b)] =
            lanes_between(host, layout.gpu_of[at(members[at(a)])], layout.gpu_of[at(members[at(b)])]);
      }
    }
  }

  std::vector<std::vector<int>> find(int kinds) {
    std::vector<std::vector<int>> ring_orders;
    for (int kind = 0; kind < kinds; ++kind) {
      // Paths between hosts enter next to all NICs evenly.
      const std::vector<int> best = best_route(closed_ ? 0 : kind * size_ / std::min(kinds, size_) % size_);
      if (best.empty()) return {};
      add(best);
      ring_orders.push_back(best);
    }
    return ring_orders;
  }

 private:
  struct Cost {
    double worst = 0.0;   // load of the most loaded pair
    double spread = 0.0;  // and the unevenness of the others
    [[nodiscard]] bool below(const Cost& other) const {
      constexpr double kEqual = 1e-9;
      if (worst < other.worst - kEqual) return true;
      return worst < other.worst + kEqual && spread < other.spread - kEqual;
    }
  };

  template <class Visit>
  void for_each_pair(const std::vector<int>& order, Visit&& visit) const {
    for (std::size_t i = 0; i + 1 < order.size(); ++i) visit(at(order[i] * size_ + order[i + 1]));
    if (closed_) visit(at(order.back() * size_ + order.front()));
  }

  void add(const std::vector<int>& order) {
    for_each_pair(order, [&](std::size_t pair) { load_[pair] += 1.0 / lanes_[pair]; });
    ends_[at(order.back())] += 1.0;
  }

  // Of the loads after this path was added; besides the worst, only changed loads are compared.
  [[nodiscard]] Cost cost_of(const std::vector<int>& order) const {
    Cost cost;
    for_each_pair(order, [&](std::size_t pair) {
      const double after = load_[pair] + 1.0 / lanes_[pair];
      cost.worst = std::max(cost.worst, after * scale_);
      cost.spread += after * after * scale_ * scale_;
    });
    if (!closed_) cost.spread += ends_[at(order.back())];
    return cost;
  }

  [[nodiscard]] bool possible(const std::vector<int>& order) const {
    bool joined = true;
    for_each_pair(order, [&](std::size_t pair) { joined = joined && lanes_[pair] > 0.0; });
    return joined;
  }

  [[nodiscard]] std::vector<int> best_route(int first) const {
    std::vector<int> order(at(size_));
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[0], order[at(first)]);
    std::sort(order.begin() + 1, order.end());
    std::vector<int> best;
    Cost least;
    do {
      if (!possible(order)) continue;
      const Cost cost = cost_of(order);
      if (!best.empty() && !cost.below(least)) continue;
      best = order;
      least = cost;
    } while (std::next_permutation(order.begin() + 1, order.end()));
    return best;
  }

  static constexpr double scale_ = 1e9;  // loads are per GB/s
  int size_;
  bool closed_;
  std::vector<double> lanes_;  // bytes/s, from * size + to
  std::vector<double> load_;   // channels per bytes/s
  std::vector<double> ends_;   // paths that leave the host next to this GPU
};

}  // namespace

std::vector<std::vector<int>> find_ring_orders(const NcclHost& host, const GroupLayout& layout, int kinds) {
  const bool mesh = host.links == NcclHost::Links::kMesh;
  if (!mesh || !layout.even() || layout.largest_host < 3 || layout.largest_host > kMostMeshGpus) return {};
  const bool closed = layout.host_count() == 1;
  if (closed) {
    const std::vector<std::vector<int>> parted = split_into_rings(host, layout);
    if (!parted.empty()) {
      std::vector<std::vector<int>> ring_orders;
      for (int kind = 0; kind < kinds; ++kind) ring_orders.push_back(parted[at(kind) % parted.size()]);
      return ring_orders;
    }
  }
  return RingOrderSearch(host, layout, closed).find(kinds);
}

}  // namespace ringwright::collectives
