#include "network_models/congestion/flow_spread.h"

#include <algorithm>
#include <numeric>

namespace ringwright::network_models {
namespace {

constexpr double kWholeFlow = 1.0 - 1e-9;

// The points that links join, numbered from 0; hops inside hosts join their two ends to one point.
class Points {
 public:
  Points(std::span<const ringwright::Hop> route, std::span<const LinkKind> kinds) {
    for (const ringwright::Hop& hop : route) {
      const LinkKind& kind = kinds[hop.link.index()];
      nodes_.insert(nodes_.end(), {kind.from, kind.to});
    }
    std::ranges::sort(nodes_);
    nodes_.erase(std::ranges::unique(nodes_).begin(), nodes_.end());
    point_.resize(nodes_.size());
    std::iota(point_.begin(), point_.end(), 0U);
    for (const ringwright::Hop& hop : route) {
      const LinkKind& kind = kinds[hop.link.index()];
      if (kind.role == LinkRole::kLossless) join(at(kind.from), at(kind.to));
    }
  }

  [[nodiscard]] std::uint32_t at(std::uint32_t node) const {
    return point_[static_cast<std::size_t>(std::ranges::lower_bound(nodes_, node) - nodes_.begin())];
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }

 private:
  void join(std::uint32_t a, std::uint32_t b) { std::ranges::replace(point_, std::max(a, b), std::min(a, b)); }

  std::vector<std::uint32_t> nodes_;
  std::vector<std::uint32_t> point_;
};

// By point, the hops of the longest path from there to the end; empty where hops form a cycle.
std::vector<std::uint32_t> longest_paths(std::span<const FlowSpread::Hop> hops, std::uint32_t points) {
  std::vector<std::uint32_t> after(points, 0);
  for (std::uint32_t round = 0; round <= points; ++round) {
    bool changed = false;
    for (const FlowSpread::Hop& hop : hops) {
      if (after[hop.from] > after[hop.to]) continue;
      after[hop.from] = after[hop.to] + 1;
      changed = true;
    }
    if (!changed) return after;
  }
  return {};
}

}  // namespace

FlowSpread::FlowSpread(std::span<const ringwright::Hop> route, std::span<const LinkKind> kinds) {
  double flows = 0.0;  // of the class
  bool nodes_known = !kinds.empty();
  for (const ringwright::Hop& hop : route) {
    const LinkKind kind = kinds.empty() ? LinkKind() : kinds[hop.link.index()];
    if (flows <= 0.0) flows = hop.multiplicity * kind.stands_for;
    nodes_known = nodes_known && kind.from != LinkKind::kTiers;
    if (kind.role == LinkRole::kLossless) continue;
    hops_.push_back({.link = hop.link.value,
                     .weight = hop.share * hop.multiplicity,
                     .of_flow = hop.share * hop.multiplicity * kind.stands_for / flows,
                     .queues = kind.role == LinkRole::kSwitchPort || !hops_.empty()});
  }
  if (nodes_known) {
    const Points points(route, kinds);
    for (Hop& hop : hops_) {
      hop.from = points.at(kinds[hop.link].from);
      hop.to = points.at(kinds[hop.link].to);
    }
    const std::vector<std::uint32_t> after = longest_paths(hops_, points.size());
    if (!after.empty()) {
      for (Hop& hop : hops_) hop.queues = kinds[hop.link].role == LinkRole::kSwitchPort;
      number_junctions(after);
      return;
    }
  }
  join_by_tiers();
}

// Hops that together take the whole flow stand side by side.
void FlowSpread::join_by_tiers() {
  std::uint32_t tiers = 0;
  double sum = 0.0;
  for (Hop& hop : hops_) {
    if (sum <= 0.0) ++tiers;
    hop.from = tiers - 1;
    sum += hop.of_flow;
    if (sum >= kWholeFlow) sum = 0.0;
  }
  std::vector<double> whole(tiers, 0.0);
  for (const Hop& hop : hops_) whole[hop.from] += hop.of_flow;
  for (Hop& hop : hops_) {
    hop.of_flow /= whole[hop.from];
    hop.fraction = hop.of_flow;
    hop.entered = hop.weight;
    hop.to = hop.from + 1 < tiers ? hop.from + 1 : kEnd;
    hop.after = tiers - 1 - hop.from;
    if (hop.from == 0) hop.queues = hops_.front().queues;
  }
  index(tiers);
}

// From points to junctions: all points at which nothing arrives are the sender, junction 0.
void FlowSpread::number_junctions(const std::vector<std::uint32_t>& after) {
  std::vector<double> in(after.size(), 0.0);
  std::vector<double> out(after.size(), 0.0);
  for (const Hop& hop : hops_) {
    in[hop.to] += hop.of_flow;
    out[hop.from] += hop.of_flow;
  }
  double sent = 0.0;
  std::vector<std::uint32_t> inner;  // points, farthest from the end first
  for (std::uint32_t p = 0; p < after.size(); ++p) {
    if (out[p] > 0.0 && in[p] <= 0.0) sent += out[p];
    if (out[p] > 0.0 && in[p] > 0.0) inner.push_back(p);
  }
  std::ranges::stable_sort(inner, std::ranges::greater(), [&](std::uint32_t p) { return after[p]; });
  std::vector<std::uint32_t> junction(after.size(), 0);
  for (std::uint32_t i = 0; i < inner.size(); ++i) junction[inner[i]] = i + 1;
  for (Hop& hop : hops_) {
    const bool first = in[hop.from] <= 0.0;
    const bool last = out[hop.to] <= 0.0;
    hop.queues = hop.queues || !first;
    hop.fraction = hop.of_flow / (first ? sent : out[hop.from]);
    hop.of_flow /= sent;
    hop.entered = last ? hop.weight : hop.weight * sent / in[hop.to];
    hop.after = after[hop.from] - 1;
    hop.from = first ? 0 : junction[hop.from];
    hop.to = last ? kEnd : junction[hop.to];
  }
  std::ranges::stable_sort(hops_, {}, &Hop::from);
  index(static_cast<std::uint32_t>(inner.size()) + 1);
}

void FlowSpread::index(std::uint32_t junctions) {
  first_from_.assign(junctions + 1, 0);
  first_into_.assign(junctions + 1, 0);
  for (const Hop& hop : hops_) {
    ++first_from_[hop.from + 1];
    if (hop.to != kEnd) ++first_into_[hop.to + 1];
  }
  std::partial_sum(first_from_.begin(), first_from_.end(), first_from_.begin());
  std::partial_sum(first_into_.begin(), first_into_.end(), first_into_.begin());
  into_.resize(first_into_.back());
  std::vector<std::uint32_t> next = first_into_;
  for (std::uint32_t h = 0; h < hops_.size(); ++h) {
    if (hops_[h].to != kEnd) into_[next[hops_[h].to]++] = h;
  }
}

}  // namespace ringwright::network_models
