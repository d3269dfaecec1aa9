// Collectives as formulas: the time of each algorithm on links without other traffic (Hockney's latency and bandwidth,
// one pair inside a host and one between hosts).
//
// The formulas are those of the algorithms' head comments, with the slower kind of hop where a step has both. A hop
// inside a host of s bytes takes a_in + s / B_in, messages to all members at once a_in + s / B_all; between hosts,
// where m members of a host send at once, a_out + s / min(B_out, H / m), where H is the bandwidth of all NICs of the
// host. Not modelled: links shared with other traffic, oversubscribed switches, and skew between members; `steps`
// models these.
#pragma once

#include <functional>
#include <utility>

#include "core/base/units.h"
#include "core/plan/collective_call.h"
#include "core/ports/collective_algorithm.h"
#include "core/ports/collective_time.h"

namespace ringwright::collectives {

struct HopCost {
  Duration latency;     // of a whole path from GPU to GPU
  Bandwidth bandwidth;  // of one flow alone on the path
};

struct WireCosts {
  HopCost inside;          // a host; unused in groups with one member per host
  HopCost between;         // hosts; unused in groups within one host
  Bandwidth host_outward;  // of all NICs of a host together, one direction
  // Of a member that sends to all others on its host at once: more than `inside` where each pair has a link of its own
  // (xGMI). 0: as `inside`.
  Bandwidth member_outward = Bandwidth(0.0);
  // A step (StepAsked) in which all members send: its cost for the whole call's bytes, inside hosts and between them.
  // Bandwidth 0: not known, or no traffic there.
  HopCost step_inside = {};
  HopCost step_between = {};

  [[nodiscard]] bool knows_step() const {
    return step_inside.bandwidth.count() > 0.0 || step_between.bandwidth.count() > 0.0;
  }
};

// Time of the algorithm's formula; the algorithm supports the call.
[[nodiscard]] Duration closed_form_time(const CollectiveAlgorithm& algorithm, const CollectiveCall& call,
                                        const WireCosts& wires);

// The rung: the chooser's algorithm, on the links of the group's members.
class ClosedForm final : public CollectiveTime {
 public:
  // `wires_of` returns the costs for a group of the call's layout and dimension, and for the step that the algorithm's
  // formula needs. Both must outlive this.
  using WiresOf = std::function<WireCosts(const CollectiveCall& call, const CollectiveAlgorithm& algorithm)>;
  ClosedForm(const CollectiveChooser& chooser, WiresOf wires_of) : chooser_(chooser), wires_of_(std::move(wires_of)) {}

  [[nodiscard]] Duration time(const CollectiveCall& call) const override;
  // As bandwidth-optimal algorithms do: the buffer times nccl-tests' factor.
  [[nodiscard]] Bytes sent(const CollectiveCall& call) const override;

 private:
  const CollectiveChooser& chooser_;
  WiresOf wires_of_;
};

// The step whose link cost an algorithm's formula needs: none; any step of a ring (all steps are identical and
// proportional to size); the middle step of a pipeline, for this call; the first step between hosts, for this call.
enum class StepAsked { kNone, kOfRings, kMiddle, kBetweenHosts };
[[nodiscard]] StepAsked step_asked(const CollectiveAlgorithm& algorithm);

// How message-based code (folding) sees such a call: one step without messages that every member waits for.
[[nodiscard]] const CollectiveChooser& pairings();

}  // namespace ringwright::collectives
