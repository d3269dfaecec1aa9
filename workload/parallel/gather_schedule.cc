#include "workload/parallel/gather_schedule.h"

#include <algorithm>
#include <utility>

namespace ringwright::workload {

GatherSchedule::GatherSchedule(const ShardUnits& units, const ShardingOptions& options, std::vector<UnitUse> uses,
                               const std::vector<std::size_t>& cycles)
    : uses_(std::move(uses)),
      steps_(uses_.size()),
      issued_(uses_.size()),
      stays_(uses_.size(), 0),
      live_(units.units().size(), 0),
      waited_(units.units().size(), 0),
      released_from_(units.units().size(), 0) {
  if (!cycles.empty()) begin_watch(cycles);
  link_uses(units, options);
  plan(units, options);
}

void GatherSchedule::begin_watch(const std::vector<std::size_t>& cycles) {
  const auto first_use = [this](std::size_t slot) {
    return static_cast<std::size_t>(std::ranges::lower_bound(uses_, slot, {}, &UnitUse::slot) - uses_.begin());
  };
  watch_.second = first_use(cycles[1]);
  watch_.third = first_use(cycles[2]);
  watch_.end = first_use(cycles[3]);
  watch_.repeats = watch_.second < watch_.third;
}

// Before the use is planned.
void GatherSchedule::watch(std::size_t use) {
  if (use == watch_.second) {
    watch_.live = live_;
    watch_.waited = waited_;
  }
  if (use != watch_.third) return;
  for (std::size_t unit = 0; unit < live_.size(); ++unit) {
    const bool same = live_[unit] == watch_.live[unit] && (live_[unit] == 0 || waited_[unit] == watch_.waited[unit]);
    watch_.repeats = watch_.repeats && same;
  }
}

void GatherSchedule::link_uses(const ShardUnits& units, const ShardingOptions& options) {
  struct Next {
    std::size_t use = 0;          // of the same unit
    std::int64_t with_later = 0;  // elements used from then on
    bool backward = false;        // a backward pass follows
  };
  std::vector<Next> next_of(units.units().size(), {.use = uses_.size()});
  std::int64_t later = 0;  // elements used after the use
  for (std::size_t use = uses_.size(); use-- > 0;) {
    const UnitUse& now = uses_[use];
    Next& unit = next_of[now.unit];
    const std::size_t next = std::exchange(unit.use, use);
    const std::int64_t between = later - unit.with_later;
    later += units.units()[now.unit].elements;
    unit.with_later = later;
    const bool again = next < uses_.size();
    const bool same_pass = again && uses_[next].slot == now.slot;
    if (now.pass != Pass::kForward && !same_pass) {
      steps_[use].completes_gradients = true;
      steps_[use].last_gradients = !unit.backward;
      unit.backward = true;
    }
    if (!again) continue;
    depends(use, next);
    const bool kept = units.units()[now.unit].kept && now.pass == Pass::kForward;
    // DeepSpeed's trace of uses ends with a backward pass (partitioned_param_coordinator.py, reset_step).
    const bool same_trace = now.pass == Pass::kForward || same_pass;
    const bool soon = same_trace && between < options.max_reuse_distance;
    const bool held = !options.reshard_after_backward && now.pass != Pass::kForward;
    const bool stays = (same_pass && !units.units()[now.unit].tile) || kept || soon || held;
    stays_[use] = stays ? 1 : 0;
  }
}

void GatherSchedule::gather(const ShardUnits& units, std::size_t use) {
  const std::size_t unit = uses_[use].unit;
  live_[unit] = 1;
  waited_[unit] = 0;
  live_elements_ += units.units()[unit].padded;
  live_matrices_ += std::min(units.units()[unit].matrices, units.units()[unit].padded);
  gathers_.push_back(use);
}

void GatherSchedule::look_ahead(const ShardUnits& units, const ShardingOptions& options, std::size_t use) {
  std::int64_t ahead = 0;
  for (std::size_t later = use + 1; later < uses_.size() && ahead < options.prefetch; ++later) {
    if (options.one_trace_each && uses_[use].pass != Pass::kForward && uses_[later].pass == Pass::kForward) return;
    depends(use, later);
    if (stays_[later - 1] == 0) released_from_[uses_[later - 1].unit] = use + 1;
    const std::size_t unit = uses_[later].unit;
    const std::int64_t elements = units.units()[unit].padded;
    if (live_[unit] != 0) {
      if (released_from_[unit] == use + 1) return;
      if (waited_[unit] == 0) ahead += elements;
      continue;
    }
    const bool backward = uses_[later].pass != Pass::kForward;
    if (backward && options.backward_prefetch != BackwardPrefetch::kPre) return;
    if (elements > options.max_live - live_elements_) return;
    gather(units, later);
    ahead += elements;
  }
}

void GatherSchedule::plan(const ShardUnits& units, const ShardingOptions& options) {
  for (std::size_t use = 0; use < uses_.size(); ++use) {
    if (watch_.repeats) watch(use);
    const UnitUse& now = uses_[use];
    Step& step = steps_[use];
    issued_[use].begin = gathers_.size();
    if (live_[now.unit] == 0) gather(units, use);
    step.waits = waited_[now.unit] == 0;
    waited_[now.unit] = 1;
    look_ahead(units, options, use);
    issued_[use].own = gathers_.size();
    step.live = live_elements_;
    step.matrices = live_matrices_;
    if (stays_[use] == 0) {
      live_[now.unit] = 0;
      live_elements_ -= units.units()[now.unit].padded;
      live_matrices_ -= std::min(units.units()[now.unit].matrices, units.units()[now.unit].padded);
    }
    const std::size_t following = use + 1;
    const bool post = options.backward_prefetch == BackwardPrefetch::kPost && following < uses_.size() &&
                      uses_[following].pass != Pass::kForward && live_[uses_[following].unit] == 0;
    if (post) gather(units, following);
  }
}

}  // namespace ringwright::workload
