#include "workload/options/layer_balance.h"

#include <algorithm>
#include <limits>

namespace ringwright::workload {
namespace {

// The best assignment of the first layers to the chunks so far: the least maximum, then the least sum of squares.
using PartScore = std::pair<double, double>;

constexpr PartScore kNoAssignment{std::numeric_limits<double>::infinity(), 0.0};

std::vector<double> sums_before(const LayerCosts& costs) {
  std::vector<double> sums(costs.layers.size() + 1, 0.0);
  for (std::size_t i = 0; i < costs.layers.size(); ++i) sums[i + 1] = sums[i] + costs.layers[i];
  return sums;
}

std::vector<PartScore> without_parts(std::size_t layers) {
  std::vector<PartScore> best(layers + 1, kNoAssignment);
  best[0] = {0.0, 0.0};
  return best;
}

// What is added at the ends of the model.
struct EndCosts {
  double first = 0.0;
  double last = 0.0;
};

// A chunk after the others.
struct NextPart {
  const std::vector<PartScore>& best;  // of the others, by number of layers
  const std::vector<double>& before;   // sums of costs
  EndCosts ends;
  std::size_t room;
};
struct Choice {
  PartScore score = kNoAssignment;
  std::size_t begin = 0;
};

// With `end` layers altogether. `guess`: a likely begin. More layers on as many parts never cost less, so that `best`
// does not fall.
Choice choose_begin(const NextPart& part, std::size_t end, std::size_t guess) {
  Choice choice;
  const std::size_t earliest = end - std::min(end, part.room);
  const auto cost = [&](std::size_t begin) {
    return part.before[end] - part.before[begin] + part.ends.first + part.ends.last;
  };
  std::size_t latest = std::clamp(guess, earliest, end);
  const double most = std::max(part.best[latest].first, cost(latest));
  while (latest < end && part.best[latest + 1].first <= most) ++latest;
  // A part costs more the earlier it begins: none is better that costs more by itself. Of equal ones the earliest.
  for (std::size_t begin = latest + 1; begin-- > earliest;) {
    const double mine = cost(begin);
    if (mine > choice.score.first) break;
    const PartScore score{std::max(part.best[begin].first, mine), part.best[begin].second + mine * mine};
    if (choice.score < score || !(score < kNoAssignment)) continue;
    choice = {.score = score, .begin = begin};
  }
  return choice;
}

// `begin_of(part, end)`: layers before the chunk, where `end` are before the next one.
template <class BeginOf>
std::vector<std::int64_t> assigned(std::size_t parts, std::size_t layers, const BeginOf& begin_of) {
  std::vector<std::int64_t> result(parts);
  for (std::size_t part = parts, end = layers; part-- > 0;) {
    const std::size_t begin = begin_of(part, end);
    result[part] = static_cast<std::int64_t>(end - begin);
    end = begin;
  }
  return result;
}

}  // namespace

LayerBalance::LayerBalance(LayerCosts costs)
    : costs_(std::move(costs)), before_(sums_before(costs_)), best_(without_parts(costs_.layers.size())) {}

void LayerBalance::add_part() {
  const std::size_t count = costs_.layers.size();
  NextPart part{.best = best_, .before = before_, .ends = {}, .room = count};
  if (last_cuts_.empty()) part.ends.first = costs_.first;
  std::vector<PartScore> next;
  next.reserve(best_.size());
  for (std::size_t end = 0; end <= count; ++end) {
    const Choice choice = choose_begin(part, end, end > 0 ? cuts_.back() : 0);
    next.push_back(choice.score);
    cuts_.push_back(static_cast<std::uint32_t>(choice.begin));
  }
  part.ends.last = costs_.last;
  last_cuts_.push_back(static_cast<std::uint32_t>(choose_begin(part, count, cuts_.back()).begin));
  settled_ = last_cuts_.size() > 1 && next == best_;
  best_ = std::move(next);
}

std::vector<std::int64_t> LayerBalance::over(int parts) {
  const auto count = static_cast<std::size_t>(parts);
  while (last_cuts_.size() < count && !settled_) add_part();
  return assigned(count, costs_.layers.size(), [&](std::size_t part, std::size_t end) {
    const std::size_t known = std::min(part, last_cuts_.size() - 1);
    return part + 1 == count ? last_cuts_[known] : cuts_[known * before_.size() + end];
  });
}

std::vector<std::int64_t> balance_layers(const LayerCosts& costs, int parts) {
  return LayerBalance(costs).over(parts);
}

std::optional<std::vector<std::int64_t>> balance_layers_on(std::span<const LayerCosts> costs,
                                                           std::span<const std::int64_t> most) {
  const std::size_t parts = costs.size();
  const std::size_t count = costs.front().layers.size();
  std::vector<PartScore> best = without_parts(count);
  std::vector<std::vector<std::size_t>> cuts(parts);
  for (std::size_t number = 0; number < parts; ++number) {
    const std::vector<double> before = sums_before(costs[number]);
    const NextPart part{.best = best,
                        .before = before,
                        .ends = {.first = number == 0 ? costs[number].first : 0.0,
                                 .last = number == parts - 1 ? costs[number].last : 0.0},
                        .room = most.empty() ? count : static_cast<std::size_t>(most[number])};
    std::vector<PartScore> next;
    for (std::size_t end = 0; end <= count; ++end) {
      const Choice choice = choose_begin(part, end, end > 0 ? cuts[number].back() : 0);
      next.push_back(choice.score);
      cuts[number].push_back(choice.begin);
    }
    best = std::move(next);
  }
  if (!(best[count] < kNoAssignment)) return std::nullopt;
  return assigned(parts, count, [&](std::size_t part, std::size_t end) { return cuts[part][end]; });
}

}  // namespace ringwright::workload
