#include "collectives/closed_form_torus.h"

#include <algorithm>

namespace ringwright::collectives {
namespace {

bool stays_in_host(const CollectiveCall& call, const CollectiveSend& send) {
  return call.layout->host_of[static_cast<std::size_t>(send.peer)] == call.layout->host_of[0];
}

// How many times longer a step between hosts takes than its messages take on their own: they may share the links of
// their GPU.
double sharing_between_hosts(const CollectiveAlgorithm& algorithm, const CollectiveCall& call, const WireCosts& wires) {
  if (!(wires.step_between.bandwidth.count() > 0.0)) return 1.0;
  CollectiveStep step;
  algorithm.step(call, 0, first_step_between_hosts(algorithm, call), step);
  Bytes largest;
  for (const CollectiveSend& send : step.sends) {
    if (!stays_in_host(call, send)) largest = std::max(largest, send.size);
  }
  const double alone = static_cast<double>(largest.count()) / wires.between.bandwidth.count();
  const double together = static_cast<double>(call.bytes.count()) / wires.step_between.bandwidth.count();
  return alone > 0.0 ? std::max(together / alone, 1.0) : 1.0;
}

}  // namespace

Duration torus_rings_time(const CollectiveAlgorithm& algorithm, const CollectiveCall& call, const WireCosts& wires) {
  const Bandwidth between = wires.between.bandwidth / sharing_between_hosts(algorithm, call, wires);
  const auto inside = [&](Bytes bytes) { return wires.inside.latency + transfer_time(bytes, wires.inside.bandwidth); };
  Duration total;
  CollectiveStep step;
  for (int index = 0; index < algorithm.steps(call); ++index) {
    algorithm.step(call, 0, index, step);
    Duration longest;
    for (const CollectiveSend& send : step.sends) {
      longest =
          std::max(longest, stays_in_host(call, send) ? inside(send.size)
                                                      : wires.between.latency + transfer_time(send.size, between));
    }
    total += longest;
  }
  return total;
}

int first_step_between_hosts(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
  CollectiveStep step;
  for (int index = 0; index < algorithm.steps(call); ++index) {
    algorithm.step(call, 0, index, step);
    const auto leaves = [&](const CollectiveSend& send) { return !stays_in_host(call, send); };
    if (std::ranges::any_of(step.sends, leaves)) return index;
  }
  return 0;
}

}  // namespace ringwright::collectives
