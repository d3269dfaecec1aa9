#include "network_models/congestion/reaction_point.h"

#include <algorithm>
#include <cmath>

namespace ringwright::network_models {
namespace {

constexpr double kDefaultLine = 5e9;  // 40 Gbit/s, the speed of the published settings
constexpr double kDefaultByteCounter = 10e6;
constexpr double kDefaultAdditive = 1e-3;  // of the line rate
constexpr double kSlowest = 1e-6;          // of the line rate

// p / ((1-p)^-x - 1), which tends to 1 / x.
double rises(double p, double log_unmarked, double packets) {
  const double exponent = -packets * log_unmarked;
  return exponent < 1e-12 ? 1.0 / packets : p / std::expm1(exponent);
}

}  // namespace

ReactionPoint starting_at(double line) { return {.line = line, .rate = line, .target = line}; }

double advance(ReactionPoint& point, const RateControl& control, double marked, double delay, double seconds) {
  constexpr double kAlmostAll = 1.0 - 1e-9;
  const double follows = delay > 0.0 ? -std::expm1(-seconds / delay) : 1.0;
  point.marked += (marked - point.marked) * follows;
  const double p = std::min(point.marked, kAlmostAll);
  const auto packet = static_cast<double>(control.packet.count());
  const double log_unmarked = std::log1p(-p);
  const double rate = point.rate / packet;
  const double target = point.target / packet;
  const double tau = to_seconds(control.cnp_interval);
  const double alpha_timer = to_seconds(control.alpha_timer);
  const double timer_packets = to_seconds(control.rate_timer) * rate;
  const double counter = (control.byte_counter ? static_cast<double>(control.byte_counter->count())
                                               : kDefaultByteCounter * point.line / kDefaultLine) / packet;
  const double additive = (control.additive ? control.additive->count() : kDefaultAdditive * point.line) / packet;

  const double cut = -std::expm1(tau * rate * log_unmarked);
  const double by_bytes = rises(p, log_unmarked, counter);
  const double by_time = rises(p, log_unmarked, timer_packets);
  const double unmarked_bytes = std::exp(control.fast_recovery * counter * log_unmarked);
  const double unmarked_time = std::exp(control.fast_recovery * timer_packets * log_unmarked);
  const double alpha_rise =
      control.gain / alpha_timer * (-std::expm1(alpha_timer * rate * log_unmarked) - point.alpha);
  const double target_rise = -(target - rate) / tau * cut +
                             additive * rate * (unmarked_bytes * by_bytes + unmarked_time * by_time);
  const double rate_rise =
      -rate * point.alpha / (2.0 * tau) * cut + (target - rate) / 2.0 * rate * (by_bytes + by_time);

  point.alpha = std::clamp(point.alpha + alpha_rise * seconds, 0.0, 1.0);
  point.target = std::clamp((target + target_rise * seconds) * packet, kSlowest * point.line, point.line);
  point.rate = std::clamp((rate + rate_rise * seconds) * packet, kSlowest * point.line, point.line);
  return cut / tau * seconds;
}

}  // namespace ringwright::network_models
