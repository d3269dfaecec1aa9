// Builds moments and epochs from a list of faults.
#include "network_models/topologies/fault_schedule.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "core/base/check.h"
#include "core/base/random.h"

namespace ringwright::network_models {
namespace {

double factor_at(std::span<const LinkFault> faults, LinkId link, TimePoint when) {
  double factor = 1.0;
  for (const LinkFault& fault : faults) {
    if (fault.link == link && fault.at <= when && when < fault.until) factor *= fault.factor;
  }
  return factor;
}

}  // namespace

FaultSchedule::FaultSchedule(std::span<const LinkFault> faults, std::size_t link_count)
    : link_count_(link_count), epochs_{LinksDown(link_count, false)} {
  std::map<TimePoint, std::set<LinkId>> touched;
  for (const LinkFault& fault : faults) {
    CHECK(fault.link.index() < link_count, "a fault names an existing link");
    CHECK(fault.factor >= 0.0 && fault.factor <= 1.0, "a fault leaves a fraction of the capacity");
    if (fault.at >= fault.until) continue;
    touched[fault.at].insert(fault.link);
    if (fault.until != kForGood) touched[fault.until].insert(fault.link);
  }
  LinksDown down(link_count, false);
  for (const auto& [when, links] : touched) {
    FaultMoment moment{.when = when, .changes = {}, .epoch = 0};
    for (const LinkId link : links) {
      const double factor = factor_at(faults, link, when);
      moment.changes.push_back({.link = link, .factor = factor});
      down[link.index()] = factor <= 0.0;
    }
    moment.epoch = number_epoch(down);
    moments_.push_back(std::move(moment));
  }
}

std::uint32_t FaultSchedule::number_epoch(const LinksDown& down) {
  const auto known = std::ranges::find(epochs_, down);
  const auto number = static_cast<std::uint32_t>(known - epochs_.begin());
  if (known == epochs_.end()) epochs_.push_back(down);
  return number;
}

std::vector<std::uint64_t> FaultSchedule::link_colours() const {
  std::vector<std::uint64_t> colours(link_count_, 0);
  for (const FaultMoment& moment : moments_) {
    for (const LinkChange& change : moment.changes) {
      const auto when = static_cast<std::uint64_t>(moment.when.since_start().count());
      std::uint64_t& colour = colours[change.link.index()];
      colour = mix(colour, mix(when, std::bit_cast<std::uint64_t>(change.factor)));
    }
  }
  return colours;
}

}  // namespace ringwright::network_models
