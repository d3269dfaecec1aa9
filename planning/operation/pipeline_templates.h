// Pipelines of prepared lengths over a given number of hosts, and the microbatches that each gets (Oobleck, SOSP 2023).
//
// A template is a pipeline over n0 .. n1 hosts; a pipeline over n hosts has n times the throughput of one host. With
// n1 >= 2 n0 - 1, every number of hosts from n0 on is a sum of template sizes, so that no host is idle. Microbatches
// are shared in proportion to throughput, in whole numbers; the step takes as long as its slowest pipeline.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ringwright::planning {

struct PipelineRules {
  std::int64_t least = 1;         // n0
  std::int64_t most = 1;          // n1
  std::int64_t microbatches = 0;  // of a step; 0: divisible as wanted
};

// As many pipelines as possible over exactly so many hosts, the longest first; empty where no sum of sizes covers them.
[[nodiscard]] std::vector<std::int64_t> cover_hosts(const PipelineRules& rules, std::int64_t hosts);

// Whole microbatches for pipelines of these throughputs so that the slowest is as fast as possible.
[[nodiscard]] std::vector<std::int64_t> share_microbatches(std::span<const std::int64_t> throughputs,
                                                           std::int64_t microbatches);

// Time of a step, in microbatches per host; empty where the hosts cannot be covered.
[[nodiscard]] std::optional<double> template_time(const PipelineRules& rules, std::int64_t hosts);

}  // namespace ringwright::planning
