// Collectives as formulas: what each algorithm takes on wires that nobody else uses (Hockney's latency and bandwidth,
// one pair inside a host and one between hosts).
//
// The formulas are those of the algorithms' head comments, with the slower kind of hop where a step takes both. A hop
// inside a host of s bytes takes a_in + s / B_in; between hosts, where m members of a host send at once,
// a_out + s / min(B_out, H / m), H being what the host's NICs carry together. What they leave out: links shared
// with other traffic, oversubscribed switches, and skew between members; `steps` has these.
#pragma once

#include <functional>
#include <utility>

#include "core/base/units.h"
#include "core/plan/collective_call.h"
#include "core/ports/collective_algorithm.h"
#include "core/ports/collective_time.h"

namespace ringwright::collectives {

struct HopCost {
  Duration latency;     // of a whole way from GPU to GPU
  Bandwidth bandwidth;  // of one flow that has the way to itself
};

struct WireCosts {
  HopCost inside;          // a host; not read in groups with one member a host
  HopCost between;         // hosts; not read in groups within one host
  Bandwidth host_outward;  // of all NICs of a host together, one direction
  // Of a step (StepAsked) in which all members send: what it takes for the whole call's bytes, inside hosts and between
  // them. Bandwidth 0: not known, or nothing goes there.
  HopCost step_inside = {};
  HopCost step_between = {};

  [[nodiscard]] bool knows_step() const {
    return step_inside.bandwidth.count() > 0.0 || step_between.bandwidth.count() > 0.0;
  }
};

// Time of the algorithm's formula; the algorithm supports the call.
[[nodiscard]] Duration closed_form_time(const CollectiveAlgorithm& algorithm, const CollectiveCall& call,
                                        const WireCosts& wires);

// The rung: the chooser's algorithm, on the wires that the group's members have.
class ClosedForm final : public CollectiveTime {
 public:
  // `wires_of` answers for a group of the call's layout and dimension, and for the step that the algorithm's formula
  // asks about. Both must outlive this.
  using WiresOf = std::function<WireCosts(const CollectiveCall& call, const CollectiveAlgorithm& algorithm)>;
  ClosedForm(const CollectiveChooser& chooser, WiresOf wires_of) : chooser_(chooser), wires_of_(std::move(wires_of)) {}

  [[nodiscard]] Duration time(const CollectiveCall& call) const override;
  // As bandwidth-optimal algorithms do: the buffer times nccl-tests' factor.
  [[nodiscard]] Bytes sent(const CollectiveCall& call) const override;

 private:
  const CollectiveChooser& chooser_;
  WiresOf wires_of_;
};

// Which step of an algorithm its formula asks the wires about: none; any one of rings, which are all alike and for all
// sizes in proportion; that in the middle of a pipeline, of this very call.
enum class StepAsked { kNone, kOfRings, kMiddle };
[[nodiscard]] StepAsked step_asked(const CollectiveAlgorithm& algorithm);

// What such a call is to those who look at messages (folding): one step that everybody waits for, in which nobody
// sends.
[[nodiscard]] const CollectiveChooser& pairings();

}  // namespace ringwright::collectives
