#include "configs/simulation/host_runs.h"

#include <algorithm>
#include <utility>

namespace ringwright::configs {

HostRuns::HostRuns(int hosts, SampledHosts::KindOfPath kind) : kind_(std::move(kind)) {
  for (int host = 0; host < hosts; ++host) kinds_.push_back(kind_(host, (host + 1) % hosts));
  least_ = hosts;
  for (const int period : {1, 2}) {
    std::vector<Run> runs = runs_of(period);
    int least = 0;
    for (const Run& run : runs) least += least_of(run, period);
    if (least >= least_) continue;
    period_ = period;
    runs_ = std::move(runs);
    least_ = least;
  }
  if (least_ == hosts) least_ = 0;
}

// Each as long as its paths repeat.
std::vector<HostRuns::Run> HostRuns::runs_of(int period) const {
  const int hosts = static_cast<int>(kinds_.size());
  const auto kind = [this](int host) { return kinds_[static_cast<std::size_t>(host)]; };
  std::vector<Run> runs;
  for (int first = 0; first < hosts;) {
    Run run{.first = first, .hosts = 1};
    while (run.last() + 1 < hosts && (run.hosts <= period || kind(run.last()) == kind(run.last() - period))) {
      // The first paths of a run are repeated by later ones, or it has none.
      if (run.hosts <= period && (run.last() + period >= hosts || kind(run.last()) != kind(run.last() + period))) break;
      ++run.hosts;
    }
    runs.push_back(run);
    first += run.hosts;
  }
  return runs;
}

// All kinds of paths within the run, and what remains are whole periods.
int HostRuns::least_of(const Run& run, int period) const {
  if (run.hosts <= period + 1) return run.hosts;
  return period + 1 + (run.hosts - period - 1) % period;
}

std::optional<std::vector<int>> HostRuns::of(int hosts) const {
  if (least_ == 0 || hosts < least_ || hosts >= static_cast<int>(kinds_.size())) return std::nullopt;
  std::vector<Run> kept = runs_;
  for (Run& run : kept) run.hosts = least_of(run, period_);
  for (int more = hosts - least_; more > 0; more -= period_) {
    std::size_t shortest = runs_.size();  // of what it has in full
    int most = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const int left = runs_[i].hosts - kept[i].hosts;
      if (left > most) shortest = i;
      most = std::max(most, left);
    }
    if (shortest == runs_.size() || more < period_) return std::nullopt;
    kept[shortest].hosts += period_;
  }
  std::vector<int> sample;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    for (int host = 0; host < kept[i].hosts; ++host) sample.push_back(kept[i].first + host);
    const int next = kept[(i + 1) % kept.size()].first;
    if (kind_(sample.back(), next) != kinds_[static_cast<std::size_t>(runs_[i].last())]) return std::nullopt;
  }
  return sample;
}

}  // namespace ringwright::configs
