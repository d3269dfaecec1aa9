#include "planning/search/shortlist.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "planning/search/search_report.h"

namespace ringwright::planning {
namespace {

constexpr std::size_t kAtOnce = 16;  // layouts, whatever the number of threads

}  // namespace

Shortlist::Shortlist(const std::vector<configs::SearchAxis>& axes, std::size_t best) : best_(best) {
  for (const configs::SearchAxis& axis : axes) {
    if (axis.values.size() > 1) axes_.push_back(axis.name);
  }
}

void Shortlist::add(const Configuration& predicted) {
  const Point point{.step = predicted.quick->step_time.mean, .memory = predicted.fullest.total};
  quickest_.insert(std::ranges::upper_bound(quickest_, point.step), point.step);
  if (quickest_.size() > best_) quickest_.pop_back();
  for (const std::string& axis : axes_) {
    const auto [entry, is_new] = with_choice_.try_emplace({axis, value_on(predicted.layout, axis)}, point.step);
    if (!is_new) entry->second = std::min(entry->second, point.step);
  }
  const auto covers = [](const Point& a, const Point& b) { return a.step <= b.step && a.memory <= b.memory; };
  if (std::ranges::any_of(front_, [&](const Point& known) { return covers(known, point); })) return;
  std::erase_if(front_, [&](const Point& known) { return covers(point, known); });
  front_.push_back(point);
}

bool Shortlist::excludes(const Configuration& configuration, Duration least) const {
  if (quickest_.size() < best_ || (best_ > 0 && quickest_.back() >= least)) return false;
  for (const std::string& axis : axes_) {
    const auto fastest = with_choice_.find({axis, value_on(configuration.layout, axis)});
    if (fastest == with_choice_.end() || fastest->second >= least) return false;
  }
  return std::ranges::any_of(
      front_, [&](const Point& known) { return known.step < least && known.memory <= configuration.fullest.total; });
}

namespace {

// Ascending by bound; layouts without one first.
std::vector<std::size_t> by_bound(std::span<const BoundedLayout> layouts) {
  std::vector<std::size_t> order(layouts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return layouts[i].least.value_or(Duration()); });
  return order;
}

bool holds(const BoundedLayout& layout) {
  return !layout.least || !layout.configuration->quick || layout.configuration->quick->step_time.mean >= *layout.least;
}

}  // namespace

bool predict_shortlist(std::span<BoundedLayout> layouts, Shortlist shortlist, const PredictLayouts& predict) {
  const std::vector<std::size_t> order = by_bound(layouts);
  bool bounds_hold = true;
  for (auto next = order.begin(); next != order.end() && bounds_hold;) {
    std::vector<std::size_t> batch;
    for (; next != order.end() && batch.size() < kAtOnce; ++next) {
      BoundedLayout& layout = layouts[*next];
      layout.skipped = layout.least && shortlist.excludes(*layout.configuration, *layout.least);
      if (!layout.skipped) batch.push_back(*next);
    }
    predict(batch);
    for (const std::size_t i : batch) {
      bounds_hold = bounds_hold && holds(layouts[i]);
      if (layouts[i].configuration->quick) shortlist.add(*layouts[i].configuration);
    }
    if (bounds_hold) continue;
    std::vector<std::size_t> rest(next, order.end());
    std::copy_if(order.begin(), next, std::back_inserter(rest), [&](std::size_t i) { return layouts[i].skipped; });
    std::ranges::sort(rest);
    for (BoundedLayout& layout : layouts) layout.skipped = false;
    predict(rest);
  }
  return bounds_hold;
}

}  // namespace ringwright::planning
