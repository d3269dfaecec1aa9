// Where a stage is in its schedule of gathers: in the current use of a unit, or before the next one.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "workload/parallel/gather_schedule.h"
#include "workload/parallel/shard_units.h"

namespace ringwright::workload {

class ScheduledUses {
 public:
  explicit ScheduledUses(GatherSchedule schedule) : schedule_(std::move(schedule)) {}

  [[nodiscard]] const UnitUse& at(std::size_t use) const { return schedule_.uses()[use]; }
  [[nodiscard]] const UnitUse& now() const { return at(use_); }
  [[nodiscard]] const GatherSchedule::Step& step() const { return schedule_.steps()[use_]; }
  [[nodiscard]] std::span<const std::size_t> gathers_before() const { return schedule_.before(use_); }
  [[nodiscard]] std::span<const std::size_t> gathers_after() const { return schedule_.after(use_); }
  [[nodiscard]] bool all_done() const { return use_ == schedule_.uses().size(); }

  // A point of the unit begins; true: the first of its use.
  [[nodiscard]] bool begin() { return !std::exchange(in_use_, true); }
  void end() {
    ++use_;
    in_use_ = false;
  }
  // Whether no point of the unit follows in this use.
  [[nodiscard]] bool ends_with(const ShardUnits& units, int chunk, std::size_t point) const {
    if (units.has_tiles()) return true;
    const bool forward = now().pass == Pass::kForward;
    if (forward ? point + 1 == units.points(chunk) : point == 0) return true;
    return units.unit_at(chunk, forward ? point + 1 : point - 1) != now().unit;
  }
  // Whether no use follows in this pass.
  [[nodiscard]] bool ends_pass() const {
    return use_ + 1 == schedule_.uses().size() || at(use_ + 1).slot != now().slot;
  }

 private:
  GatherSchedule schedule_;
  std::size_t use_ = 0;  // the current one, or the next one between uses
  bool in_use_ = false;
};

}  // namespace ringwright::workload
