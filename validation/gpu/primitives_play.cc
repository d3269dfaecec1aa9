#include "validation/gpu/primitives_play.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "configs/simulation/collective_run.h"
#include "core/base/check.h"
#include "validation/fit/bounded_fit.h"

namespace ringwright::validation {
namespace {

// As platform_constants.cc bounds them, in microseconds and GB/s; blocks of one GPU observe each other's flags sooner.
constexpr std::array<FitConstant, 4> kBounds = {FitConstant{1.0, 60.0, 6.0}, FitConstant{0.05, 10.0, 0.8},
                                                FitConstant{0.02, 10.0, 0.5}, FitConstant{1.0, 200.0, 25.0}};

PrimitiveCosts costs_of(std::span<const double> values) {
  return {.launch = from_seconds(values[0] * 1e-6),
          .hop = from_seconds(values[1] * 1e-6),
          .primitive = from_seconds(values[2] * 1e-6),
          .rate = Bandwidth(values[3] * 1e9)};
}

configs::Scenario machine(int ranks, Bandwidth memory) {
  const std::string text = fmt::format(
      "version: 1\ncluster: {{nodes: 1, node: {{gpus: {}, gpu: {{peak: {{bf16: 1TFLOPS}}, memory: 1GiB, "
      "memory_bandwidth: {:.3f}GB/s, "
      "sms: 1}}, nvlink: {{type: nvswitch, bandwidth: {:.3f}GB/s, latency: 0us}}}}}}\ncollectives: {{model: chunks}}\n",
      ranks, memory.count() * 1e-9, memory.count() * 1e-9);
  auto scenario = configs::load_machine_text("thread blocks", text);
  CHECK(scenario.has_value(), "a host of thread blocks is a machine");
  return std::move(*scenario);
}

}  // namespace

std::vector<double> play_rings(std::span<const MeasuredExchange> rows, const PrimitiveCosts& costs, Bandwidth memory) {
  std::vector<double> seconds(rows.size());
  std::vector<int> sizes;
  for (const MeasuredExchange& row : rows) sizes.push_back(row.ranks);
  std::ranges::sort(sizes);
  sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
  for (const int ranks : sizes) {
    configs::Scenario scenario = machine(ranks, memory);
    scenario.comm.costs = {.launch = costs.launch};  // zero for the host, which the suite's launches hide
    for (ChannelCosts::OfProtocol& of : scenario.comm.costs.protocol) {
      of = {.hop = costs.hop, .primitive = costs.primitive, .rate = costs.rate};
    }
    configs::CollectiveBench bench(scenario);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const MeasuredExchange& row = rows[i];
      if (row.ranks != ranks) continue;
      scenario.comm.plan = CollectivePlan{.algorithm = "ring", .protocol = row.protocol, .channels = row.channels,
                                          .threads = row.threads, .chunk = row.chunk()};
      const auto result = bench.run({.operation = configs::CollectiveOperation::kAllReduce, .bytes = row.bytes});
      CHECK(result.has_value(), "a ring simulates every size");
      seconds[i] = to_seconds(result->time);
    }
  }
  return seconds;
}

PrimitivesFit fit_primitives(std::span<const MeasuredExchange> all, Protocol protocol, Bandwidth memory) {
  std::vector<MeasuredExchange> rows;
  std::ranges::copy_if(all, std::back_inserter(rows),
                       [&](const MeasuredExchange& row) { return row.protocol == protocol && !row.held_out; });
  const FitAnswer answer = fit(kBounds, [&](std::span<const double> values) {
    const std::vector<double> played = play_rings(rows, costs_of(values), memory);
    double sum = 0.0;
    for (std::size_t i = 0; i < rows.size(); ++i) sum += std::abs(std::log(played[i] / rows[i].seconds));
    return rows.empty() ? 0.0 : sum / static_cast<double>(rows.size());
  });
  return {.protocol = protocol, .costs = costs_of(answer.values), .error = answer.error, .matters = answer.matters};
}

}  // namespace ringwright::validation
