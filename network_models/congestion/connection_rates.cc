#include "network_models/congestion/connection_rates.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace ringwright::network_models {
namespace {

constexpr double kRecovered = 1.0 - 1e-9;
constexpr double kLongestIdle = 0.1;  // seconds; additive increase takes 55 ms from nothing to the line rate

}  // namespace

std::uint32_t ConnectionRates::number(const Connection& connection) {
  const auto [entry, is_new] = numbers_.try_emplace(connection, static_cast<std::uint32_t>(left_.size()));
  if (is_new) left_.emplace_back();
  return entry->second;
}

void ConnectionRates::end(std::uint32_t connection, const ReactionPoint& point, TimePoint now) {
  Left& left = left_[connection];
  const auto order = [](const ReactionPoint& p) { return std::tuple(p.rate, p.target, -p.alpha, -p.marked, p.line); };
  if (left.point.line > 0.0 && left.since == now && order(left.point) <= order(point)) return;
  left = {.point = point, .since = now};
}

ReactionPoint ConnectionRates::begin(std::uint32_t connection, double line, TimePoint now) const {
  const Left& left = left_[connection];
  const double idle = to_seconds(now - left.since);
  const bool same_path = std::abs(left.point.line - line) <= 1e-9 * line;
  if (!control_.reacts || !same_path || idle > kLongestIdle) return starting_at(line);
  ReactionPoint point = left.point;
  const double longest = to_seconds(control_.rate_timer) / 4.0;
  const double steps = std::max(std::ceil(idle / longest), 1.0);
  for (double step = 0.0; step < steps && point.rate < line * kRecovered; ++step) {
    (void)advance(point, control_, 0.0, idle / steps, idle / steps);
  }
  return point.rate < line * kRecovered ? point : starting_at(line);
}

}  // namespace ringwright::network_models
