#include "collectives/nccl/search/circles.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "core/base/index.h"

namespace ringwright::collectives {
namespace {

constexpr int kMostMeshGpus = 8;  // 7! ways are looked at

double lanes_between(const NcclHost& host, int a, int b) {
  for (const NcclHost::Lanes& lanes : host.lanes) {
    if (std::minmax(lanes.a, lanes.b) == std::minmax(a, b)) return lanes.bandwidth.count();
  }
  return 0.0;
}

// Parts all lanes of a host into circles, so that each is used once. Every circle passes the first GPU, and so has one
// of its lanes; the others are tried in order. Gives up after some thousand steps, as NCCL's search does.
class Parting {
 public:
  // `lanes`: from * size + to.
  Parting(int size, std::vector<int> lanes) : size_(size), lanes_(std::move(lanes)) {}

  // Empty when there is no such parting, or none was found.
  std::vector<std::vector<int>> find() {
    for (int from = 0; from < size_; ++from) {
      if (out_of(from) != out_of(0)) return {};
    }
    return begin_circle() ? circles_ : std::vector<std::vector<int>>();
  }

 private:
  static constexpr int kSteps = 50'000;

  int& lane(int from, int to) { return lanes_[at(from * size_ + to)]; }
  [[nodiscard]] int out_of(int from) const {
    return std::accumulate(lanes_.begin() + from * size_, lanes_.begin() + (from + 1) * size_, 0);
  }

  bool begin_circle() {
    for (int to = 1; to < size_; ++to) {
      if (lane(0, to) == 0) continue;
      way_ = {0};
      return extend(to);  // some circle must take this lane; which one comes first does not matter
    }
    return true;
  }

  bool extend(int to) {
    if (++steps_ > kSteps) return false;
    const int from = way_.back();
    --lane(from, to);
    way_.push_back(to);
    const bool found = static_cast<int>(way_.size()) == size_ ? close() : go_on();
    if (found) return true;
    way_.pop_back();
    ++lane(from, to);
    return false;
  }

  bool go_on() {
    const int from = way_.back();
    for (int to = 1; to < size_; ++to) {
      if (lane(from, to) > 0 && std::ranges::find(way_, to) == way_.end() && extend(to)) return true;
    }
    return false;
  }

  bool close() {
    const int last = way_.back();
    if (lane(last, 0) == 0) return false;
    --lane(last, 0);
    circles_.push_back(way_);
    const std::vector<int> done = way_;
    if (begin_circle()) return true;
    way_ = done;
    circles_.pop_back();
    ++lane(last, 0);
    return false;
  }

  int size_;
  std::vector<int> lanes_;
  std::vector<int> way_;
  std::vector<std::vector<int>> circles_;
  int steps_ = 0;
};

std::vector<std::vector<int>> part_into_circles(const NcclHost& host, const GroupLayout& layout) {
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
        lanes_[at(a * size_ + b)] =
            lanes_between(host, layout.gpu_of[at(members[at(a)])], layout.gpu_of[at(members[at(b)])]);
      }
    }
  }

  std::vector<std::vector<int>> find(int kinds) {
    std::vector<std::vector<int>> circles;
    for (int kind = 0; kind < kinds; ++kind) {
      // Ways between hosts enter beside all NICs alike.
      const std::vector<int> best = best_way(closed_ ? 0 : kind * size_ / std::min(kinds, size_) % size_);
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
  if (!mesh || !layout.even() || layout.largest_host < 3 || layout.largest_host > kMostMeshGpus) return {};
  const bool closed = layout.host_count() == 1;
  if (closed) {
    const std::vector<std::vector<int>> parted = part_into_circles(host, layout);
    if (!parted.empty()) {
      std::vector<std::vector<int>> circles;
      for (int kind = 0; kind < kinds; ++kind) circles.push_back(parted[at(kind) % parted.size()]);
      return circles;
    }
  }
  return CircleSearch(host, layout, closed).find(kinds);
}

}  // namespace ringwright::collectives
