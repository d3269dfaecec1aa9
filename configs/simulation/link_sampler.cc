#include "configs/simulation/link_sampler.h"

#include <algorithm>

namespace ringwright::configs {
namespace {

std::vector<std::size_t> fullest_links(const Simulation& simulation, const std::vector<LinkUsage>& usage) {
  const std::span<const Bandwidth> capacities = simulation.router().capacities();
  std::vector<std::size_t> order;
  for (std::size_t link = 0; link < usage.size(); ++link) {
    if (usage[link].bytes > 0.0) order.push_back(link);
  }
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t link) { return usage[link].bytes / capacities[link].count(); });
  order.resize(std::min(order.size(), kMostLinkCurves));
  return order;
}

}  // namespace

LinkSampler::LinkSampler(const Simulation& simulation, const RunResult& untraced, std::size_t step)
    : simulation_(simulation), tiers_(simulation) {
  const std::vector<TimePoint>& ends = untraced.record.iteration_end;
  if (untraced.outcome != RunOutcome::kFinished || step >= ends.size()) return;
  start_ = step > 0 ? ends[step - 1] : TimePoint();
  end_ = ends[step];
  interval_ = (end_ - start_) / kLinkIntervals;
  busiest_ = fullest_links(simulation, untraced.usage);
  for (const LinkTier& tier : tiers_.read(untraced.usage, end_.since_start())) {
    curves_.tiers.push_back({.name = tier.name, .links = tier.links, .mean = {}, .highest = {}});
  }
  const LinkClasses& links = simulation.folding().links;
  for (const std::size_t link : busiest_) {
    curves_.links.push_back({.name = simulation.network().fabric.name(links.representative[link]),
                             .links = links.size[link],
                             .mean = {},
                             .highest = {}});
  }
}

TimePoint LinkSampler::edge(int number) const {
  return number == kLinkIntervals ? end_ : start_ + interval_ * number;
}

void LinkSampler::schedule(Engine& engine, const NetworkModel& network) {
  network_ = &network;
  if (interval_ <= Duration()) return;
  for (int number = 0; number <= kLinkIntervals; ++number) {
    engine.at(edge(number), [this, number] { sample(number); });
  }
}

void LinkSampler::sample(int number) {
  std::vector<LinkUsage> usage = network_->usage();
  std::vector<LinkUsage> moved = usage;
  if (number > 0) {
    const Duration elapsed = edge(number) - edge(number - 1);
    for (std::size_t link = 0; link < moved.size(); ++link) {
      moved[link].bytes = std::max(usage[link].bytes - previous_[link].bytes, 0.0);
    }
    const std::vector<LinkTier> tiers = tiers_.read(moved, elapsed);
    for (traces::LinkCurve& curve : curves_.tiers) {
      const auto now = std::ranges::find(tiers, curve.name, &LinkTier::name);
      curve.mean.push_back(now == tiers.end() ? 0.0 : now->mean);
      curve.highest.push_back(now == tiers.end() ? 0.0 : now->highest);
    }
    const std::span<const Bandwidth> capacities = simulation_.router().capacities();
    for (std::size_t i = 0; i < busiest_.size(); ++i) {
      const std::size_t link = busiest_[i];
      curves_.links[i].mean.push_back(moved[link].bytes / capacities[link].count() / to_seconds(elapsed));
    }
  }
  previous_ = std::move(usage);
}

traces::LinkCurves LinkSampler::curves() const {
  traces::LinkCurves curves = curves_;
  curves.start = start_;
  curves.interval = interval_;
  return curves;
}

}  // namespace ringwright::configs
