// Solves the high class, gives the remaining capacity to the low class, solves that.
#include "network_models/solver/priority_max_min.h"

#include <algorithm>
#include <limits>

namespace ringwright::network_models {

void PriorityMaxMin::place(FlowSlot flow, std::span<const Hop> route, Priority priority) {
  if (priority == Priority::kLow && !low_) {
    low_ = std::make_unique<IncrementalMaxMin>(capacities_);
    for (std::uint32_t link = 0; link < capacities_.size(); ++link) touched_.push_back(link);
  }
  if (priority == Priority::kLow && flow >= is_low_.size()) is_low_.resize(flow + 1, false);
  if (flow < is_low_.size()) is_low_[flow] = priority == Priority::kLow;
  of(flow).place(flow, route);
}

void PriorityMaxMin::leave(FlowSlot flow) {
  if (low_ && priority(flow) == Priority::kHigh) touch_route(flow);
  of(flow).leave(flow);
}

void PriorityMaxMin::set_capacity(LinkId link, Bandwidth capacity) {
  capacities_[link.index()] = capacity;
  if (++capacities_number_ == 0) ++capacities_number_;
  high_.set_capacity(link, capacity);
  if (low_) touched_.push_back(link.value);
}

bool PriorityMaxMin::route_is_empty(FlowSlot flow) const {
  const auto is_empty = [this](const LinkShare& hop) {
    return high_.is_empty(LinkId(hop.link)) && (!low_ || low_->is_empty(LinkId(hop.link)));
  };
  return std::ranges::all_of(route(flow), is_empty);
}

bool PriorityMaxMin::is_alone(FlowSlot flow) const {
  return of(flow).is_alone(flow) && std::ranges::all_of(route(flow), [&](const LinkShare& hop) {
           return priority(flow) == Priority::kLow ? high_.is_empty(LinkId(hop.link))
                                                   : !low_ || low_->is_empty(LinkId(hop.link));
         });
}

double PriorityMaxMin::rate_alone(FlowSlot flow) const {
  double rate = std::numeric_limits<double>::infinity();
  for (const LinkShare& hop : route(flow)) rate = std::min(rate, capacities_[hop.link].count() / hop.share);
  return rate;
}

void PriorityMaxMin::touch_route(FlowSlot flow) {
  for (const LinkShare& hop : route(flow)) touched_.push_back(hop.link);
}

void PriorityMaxMin::offer_rest(std::uint32_t link) {
  // The rounding remainder of a full link counts as 0.
  constexpr double kNothing = 1e-9;
  const double capacity = capacities_[link].count();
  const double rest = capacity - high_.load(LinkId(link));
  low_->set_capacity(LinkId(link), Bandwidth(rest > kNothing * capacity ? rest : 0.0));
}

std::span<const FlowSlot> PriorityMaxMin::solve() {
  const std::span<const FlowSlot> high = high_.solve();
  if (!low_) return high;
  changed_.assign(high.begin(), high.end());
  for (const FlowSlot flow : changed_) touch_route(flow);
  std::ranges::sort(touched_);
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  for (const std::uint32_t link : touched_) offer_rest(link);
  touched_.clear();
  const std::span<const FlowSlot> low = low_->solve();
  changed_.insert(changed_.end(), low.begin(), low.end());
  return changed_;
}

double PriorityMaxMin::largest_error() const {
  return low_ ? std::max(high_.largest_error(), low_->largest_error()) : high_.largest_error();
}

IncrementalMaxMin::Work PriorityMaxMin::work() const {
  IncrementalMaxMin::Work work = high_.work();
  if (!low_) return work;
  work.solves += low_->work().solves;
  work.full_solves += low_->work().full_solves;
  work.flows_resolved += low_->work().flows_resolved;
  return work;
}

}  // namespace ringwright::network_models
