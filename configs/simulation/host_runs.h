// Fewer hosts of a ring that stand for all of them where leaves hold different numbers of its hosts.
//
// A run is hosts that follow each other over equal paths, or over two kinds of paths in turns; between runs the ring
// goes over other paths (to the next leaf). A sample has the first hosts of every run and all paths between runs: with
// more hosts only the paths within runs become more. SampledHosts does the same for blocks that are equal.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "configs/simulation/sampled_hosts.h"

namespace ringwright::configs {

class HostRuns {
 public:
  HostRuns(int hosts, SampledHosts::KindOfPath kind);

  // Of the smallest sample; zero: no sample is smaller than all hosts.
  [[nodiscard]] int least() const { return least_; }
  // So many hosts; none where runs do not add up to that number, or where paths between them differ from those of all
  // hosts.
  [[nodiscard]] std::optional<std::vector<int>> of(int hosts) const;

 private:
  struct Run {
    int first = 0;
    int hosts = 0;
    [[nodiscard]] int last() const { return first + hosts - 1; }
  };
  [[nodiscard]] std::vector<Run> runs_of(int period) const;
  [[nodiscard]] int least_of(const Run& run, int period) const;

  SampledHosts::KindOfPath kind_;
  std::vector<std::uint64_t> kinds_;  // from each host to the next, the last one's to the first
  int period_ = 1;                    // kinds of paths within a run
  std::vector<Run> runs_;
  int least_ = 0;
};

}  // namespace ringwright::configs
