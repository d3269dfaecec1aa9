#include "planning/operation/pipeline_templates.h"

#include <algorithm>

namespace ringwright::planning {

// p pipelines of n0 .. n1 hosts cover p n0 .. p n1 hosts: the most pipelines whose range holds the number, with lengths
// that differ by at most one.
std::vector<std::int64_t> cover_hosts(const PipelineRules& rules, std::int64_t hosts) {
  const std::int64_t pipelines = hosts / rules.least;
  if (pipelines < 1 || pipelines * rules.most < hosts) return {};
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(pipelines), hosts / pipelines);
  for (std::int64_t i = 0; i < hosts % pipelines; ++i) ++lengths[static_cast<std::size_t>(i)];
  return lengths;
}

std::vector<std::int64_t> share_microbatches(std::span<const std::int64_t> throughputs, std::int64_t microbatches) {
  std::int64_t sum = 0;
  for (const std::int64_t one : throughputs) sum += one;
  std::vector<std::int64_t> shares;
  std::int64_t given = 0;
  for (const std::int64_t one : throughputs) {
    shares.push_back(microbatches * one / sum);
    given += shares.back();
  }
  // Each further microbatch goes where it ends first.
  for (; given < microbatches; ++given) {
    std::size_t best = 0;
    const auto end = [&](std::size_t i) {
      return static_cast<double>(shares[i] + 1) / static_cast<double>(throughputs[i]);
    };
    for (std::size_t i = 1; i < shares.size(); ++i) {
      if (end(i) < end(best)) best = i;
    }
    ++shares[best];
  }
  return shares;
}

std::optional<double> template_time(const PipelineRules& rules, std::int64_t hosts) {
  const std::vector<std::int64_t> lengths = cover_hosts(rules, hosts);
  if (lengths.empty()) return std::nullopt;
  if (rules.microbatches == 0) return 1.0 / static_cast<double>(hosts);
  const std::vector<std::int64_t> shares = share_microbatches(lengths, rules.microbatches);
  double slowest = 0.0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    slowest = std::max(slowest, static_cast<double>(shares[i]) / static_cast<double>(lengths[i]));
  }
  return slowest / static_cast<double>(rules.microbatches);
}

}  // namespace ringwright::planning
