// Reads the traffic of all links at equal intervals of one step of a run.
#pragma once

#include <cstddef>
#include <vector>

#include "configs/simulation/link_tiers.h"
#include "configs/simulation/simulation.h"
#include "core/engine/engine.h"
#include "core/run/step/executor.h"
#include "traces/timeline/link_curves.h"

namespace ringwright::configs {

inline constexpr int kLinkIntervals = 200;
inline constexpr std::size_t kMostLinkCurves = 12;

class LinkSampler {
 public:
  // `untraced`: the same run, which has ended: it says when the step begins and ends, and which links carry most.
  LinkSampler(const Simulation& simulation, const RunResult& untraced, std::size_t step);

  // Before the run. The network must outlive it.
  void schedule(Engine& engine, const NetworkModel& network);
  [[nodiscard]] std::uint64_t events() const { return interval_ > Duration() ? kLinkIntervals + 1 : 0; }
  [[nodiscard]] traces::LinkCurves curves() const;

 private:
  void sample(int number);
  [[nodiscard]] TimePoint edge(int number) const;

  const Simulation& simulation_;
  LinkTiers tiers_;
  const NetworkModel* network_ = nullptr;
  TimePoint start_;
  TimePoint end_;
  Duration interval_;
  std::vector<std::size_t> busiest_;  // classes of links
  std::vector<LinkUsage> previous_;
  traces::LinkCurves curves_;
};

}  // namespace ringwright::configs
