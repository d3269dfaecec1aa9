// Reaction point: the rate of one sender under DCQCN, as differential equations.
//
// Zhu, Ghobadi, Misra, Padhye, "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY" (CoNEXT 2016), section
// 3.1, equations 5 to 8; the model of Zhu et al. (SIGCOMM 2015), section 5. With p the probability that a packet is
// marked, R_C the rate in packets a second, R_T the target, q(x) = 1 - (1-p)^x the probability of a mark among x
// packets:
//   d alpha / dt = g / tau' (q(tau' R_C) - alpha)
//   d R_T / dt   = -(R_T - R_C) / tau q(tau R_C) + R_AI R_C ((1-p)^(F B) b + (1-p)^(F T R_C) t)
//   d R_C / dt   = -R_C alpha / (2 tau) q(tau R_C) + (R_T - R_C) / 2 R_C (b + t)
// with b = p / ((1-p)^-B - 1), t = p / ((1-p)^(-T R_C) - 1). As there, hyper increase is left out. The delay of
// feedback is a lag of first order: the mark probability that a sender acts on follows the path's with that time
// constant, which leaves the fixed point as it is.
#pragma once

#include "core/base/units.h"
#include "network_models/congestion/congestion_settings.h"

namespace ringwright::network_models {

struct ReactionPoint {
  double line = 0.0;    // bytes per second, as the others: the rate at which it starts
  double rate = 0.0;    // R_C
  double target = 0.0;  // R_T
  double alpha = 1.0;
  double marked = 0.0;  // the probability that it acts on
};

[[nodiscard]] ReactionPoint starting_at(double line);
// After `seconds` in which packets of its path are marked with probability `marked`, which takes `delay` seconds to
// arrive. Returns the CNPs it received.
double advance(ReactionPoint& point, const RateControl& control, double marked, double delay, double seconds);

}  // namespace ringwright::network_models
