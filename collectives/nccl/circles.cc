#include "collectives/nccl/circles.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace ringwright::collectives {
namespace {

constexpr int kMostGpus = 8;  // 7! ways are looked at

std::size_t at(int index) { return static_cast<std::size_t>(index); }

class CircleSearch {
 public:
  // `closed`: the way returns to its first GPU; else it begins and ends at a NIC.
  CircleSearch(const NcclHost& host, const GroupLayout& layout, bool closed)
      : size_(static_cast<int>(layout.hosts.front().size())), closed_(closed) {
    lanes_.assign(at(size_ * size_), 0.0);
    load_.assign(lanes_.size(), 0.0);
    ends_.assign(at(size_), 0.0);
    const std::vector<int>& members = layout.hosts.front();
    for (int a = 0; a < size_; ++a) {
      for (int b = 0; b < size_; ++b) {
        lanes_[at(a * size_ + b)] = lanes_between(host, layout.gpu_of[at(members[at(a)])], layout.gpu_of[at(members[at(b)])]);
      }
    }
  }

  std::vector<std::vector<int>> find(int kinds) {
    std::vector<std::vector<int>> circles;
    for (int kind = 0; kind < kinds; ++kind) {
      const std::vector<int> best = best_way(closed_ ? 0 : kind % size_);
      if (best.empty()) return {};
      add(best);
      circles.push_back(best);
    }
    return circles;
  }

 private:
  struct Cost {
    double worst = 0.0;    // load of the pair that is loaded most
    double spread = 0.0;   // and how uneven the others are
    [[nodiscard]] bool below(const Cost& other) const {
      constexpr double kEqual = 1e-9;
      if (worst < other.worst - kEqual) return true;
      return worst < other.worst + kEqual && spread < other.spread - kEqual;
    }
  };

  static double lanes_between(const NcclHost& host, int a, int b) {
    for (const NcclHost::Lanes& lanes : host.lanes) {
      if (std::minmax(lanes.a, lanes.b) == std::minmax(a, b)) return lanes.bandwidth.count();
    }
    return 0.0;
  }

  template <class Visit>
  void for_each_pair(const std::vector<int>& way, Visit&& visit) const {
    for (std::size_t i = 0; i + 1 < way.size(); ++i) visit(at(way[i] * size_ + way[i + 1]));
    if (closed_) visit(at(way.back() * size_ + way.front()));
  }

  void add(const std::vector<int>& way) {
    for_each_pair(way, [&](std::size_t pair) { load_[pair] += 1.0 / lanes_[pair]; });
    ends_[at(way.back())] += 1.0;
  }

  // Of the loads after this way was added; only what it changes is compared beside the worst.
  [[nodiscard]] Cost cost_of(const std::vector<int>& way) const {
    Cost cost;
    for_each_pair(way, [&](std::size_t pair) {
      const double after = load_[pair] + 1.0 / lanes_[pair];
      cost.worst = std::max(cost.worst, after * scale_);
      cost.spread += after * after * scale_ * scale_;
    });
    if (!closed_) cost.spread += ends_[at(way.back())];
    return cost;
  }

  [[nodiscard]] bool possible(const std::vector<int>& way) const {
    bool joined = true;
    for_each_pair(way, [&](std::size_t pair) { joined = joined && lanes_[pair] > 0.0; });
    return joined;
  }

  [[nodiscard]] std::vector<int> best_way(int first) const {
    std::vector<int> way(at(size_));
    std::iota(way.begin(), way.end(), 0);
    std::swap(way[0], way[at(first)]);
    std::sort(way.begin() + 1, way.end());
    std::vector<int> best;
    Cost least;
    do {
      if (!possible(way)) continue;
      const Cost cost = cost_of(way);
      if (!best.empty() && !cost.below(least)) continue;
      best = way;
      least = cost;
    } while (std::next_permutation(way.begin() + 1, way.end()));
    return best;
  }

  static constexpr double scale_ = 1e9;  // loads are per GB/s
  int size_;
  bool closed_;
  std::vector<double> lanes_;  // bytes/s, from * size + to
  std::vector<double> load_;   // channels per bytes/s
  std::vector<double> ends_;   // ways that leave the host beside this GPU
};

}  // namespace

std::vector<std::vector<int>> find_circles(const NcclHost& host, const GroupLayout& layout, int kinds) {
  const bool mesh = host.links == NcclHost::Links::kMesh;
  if (!mesh || !layout.even() || layout.largest_host < 3 || layout.largest_host > kMostGpus) return {};
  return CircleSearch(host, layout, layout.host_count() == 1).find(kinds);
}

}  // namespace ringwright::collectives
