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

// Whether paths know that the link is down.
bool is_avoided(std::span<const LinkFault> faults, LinkId link, TimePoint when) {
  return std::ranges::any_of(faults, [&](const LinkFault& fault) {
    return fault.link == link && fault.factor <= 0.0 && fault.at + fault.reroute_after <= when && when < fault.until;
  });
}

// Independent losses of one link.
double loss_at(std::span<const LinkFault> faults, LinkId link, TimePoint when) {
  double passes = 1.0;
  for (const LinkFault& fault : faults) {
    if (fault.link == link && fault.at <= when && when < fault.until) passes *= 1.0 - fault.loss;
  }
  return 1.0 - passes;
}

// What changes at an instant.
struct Touched {
  std::set<LinkId> capacities;
  std::set<LinkId> paths;
};

std::map<TimePoint, Touched> find_moments(std::span<const LinkFault> faults) {
  std::map<TimePoint, Touched> moments;
  for (const LinkFault& fault : faults) {
    if (fault.at >= fault.until) continue;
    moments[fault.at].capacities.insert(fault.link);
    if (fault.until != kForGood) {
      moments[fault.until].capacities.insert(fault.link);
      moments[fault.until].paths.insert(fault.link);
    }
    const TimePoint rerouted = fault.at + fault.reroute_after;
    if (rerouted < fault.until) moments[rerouted].paths.insert(fault.link);
  }
  return moments;
}

}  // namespace

FaultSchedule::FaultSchedule(std::span<const LinkFault> faults, std::size_t link_count)
    : link_count_(link_count), epochs_{Epoch{.down = LinksDown(link_count, false)}} {
  for (const LinkFault& fault : faults) {
    CHECK(fault.link.index() < link_count, "a fault names an existing link");
    CHECK(fault.factor >= 0.0 && fault.factor <= 1.0, "a fault leaves a fraction of the capacity");
    CHECK(fault.loss >= 0.0 && fault.loss < 1.0, "some packets arrive");
    if (fault.failover == FailoverMode::kNone) continue;
    failover_.resize(link_count, FailoverMode::kNone);
    failover_[fault.link.index()] = fault.failover;
  }
  Epoch epoch = epochs_.front();
  for (const auto& [when, touched] : find_moments(faults)) {
    FaultMoment moment{.when = when, .changes = {}, .epoch = 0};
    for (const LinkId link : touched.capacities)
      moment.changes.push_back({.link = link, .factor = factor_at(faults, link, when)});
    for (const LinkId link : touched.paths) {
      epoch.down[link.index()] = is_avoided(faults, link, when);
      epoch.losses.erase(link);
      if (const double loss = loss_at(faults, link, when); loss > 0.0) epoch.losses[link] = loss;
    }
    epoch.any_down = std::ranges::count(epoch.down, true) > 0;
    moment.epoch = number_epoch(epoch);
    moments_.push_back(std::move(moment));
  }
}

bool FaultSchedule::any_losses() const {
  return std::ranges::any_of(epochs_, [](const Epoch& epoch) { return !epoch.losses.empty(); });
}

std::uint32_t FaultSchedule::number_epoch(const Epoch& epoch) {
  const auto known = std::ranges::find(epochs_, epoch);
  const auto number = static_cast<std::uint32_t>(known - epochs_.begin());
  if (known == epochs_.end()) epochs_.push_back(epoch);
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
  for (std::size_t link = 0; link < failover_.size(); ++link) {
    if (failover_[link] != FailoverMode::kNone) colours[link] = mix(colours[link], std::uint64_t(failover_[link]));
  }
  for (std::size_t epoch = 0; epoch < epochs_.size(); ++epoch) {
    for (const auto& [link, loss] : epochs_[epoch].losses) {
      std::uint64_t& colour = colours[link.index()];
      colour = mix(colour, mix(epoch, std::bit_cast<std::uint64_t>(loss)));
    }
  }
  return colours;
}

}  // namespace ringwright::network_models
