#include "validation/gpu/primitives_play.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "configs/simulation/collective_run.h"
#include "core/base/check.h"
#include "validation/fit/bounded_fit.h"
#include "workload/kernels/kernel_rules.h"

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

// Wires that no ring fills: what ranks of one GPU share is its memory.
configs::Scenario machine(int ranks) {
  const std::string text = fmt::format(
      "version: 1\ncluster: {{nodes: 1, node: {{gpus: {}, gpu: {{peak: {{bf16: 1TFLOPS}}, memory: 1GiB, "
      "memory_bandwidth: 1TB/s, sms: 1}}, nvlink: {{kind: nvswitch, bandwidth: 1000TB/s, latency: 0us}}}}}}\n"
      "collectives: {{model: chunks}}\n",
      ranks);
  auto scenario = configs::load_machine_text("thread blocks", text);
  CHECK(scenario.has_value(), "a host of thread blocks is a machine");
  return std::move(*scenario);
}

CollectivePlan plan_of(const MeasuredExchange& row) {
  return {.algorithm = "ring",
          .protocol = row.protocol,
          .channels = row.channels,
          .threads = row.threads,
          .chunk = row.chunk()};
}

// Bytes of all slots, as far as the steps of the ring fill them.
double queue_bytes(const MeasuredExchange& row) {
  const double step = static_cast<double>(row.bytes.count()) / row.ranks / row.channels;
  const double slot = std::min(static_cast<double>(row.slot.count()), step * wire_bytes_per_byte(row.protocol));
  return row.ranks * row.channels * kSlots * slot;
}

// How long a byte takes that two loads and a store, or a load and two stores, pass on, relative to one that is copied.
double ring_copies(Protocol protocol) {
  ChannelCosts costs;
  for (ChannelCosts::OfProtocol& of : costs.protocol) of.rate = Bandwidth(1e9);
  return (1e9 / costs.rate_of(protocol, 2, 1).count() + 1e9 / costs.rate_of(protocol, 1, 2).count()) / 2;
}

// A thread block's rate while the others use the same memory. Each byte that is passed on is read from a slot and
// stored into one, flags included, and an operand of the rank is read or a result stored. Slots are reused while the
// last-level cache still has them, if all of them fit; buffers only if everything does. The block waits for its own
// loads and stores, and while memory serves those of the other blocks: the saturation of a closed queue, whose
// throughput for n customers is about n / (own time + n x service time).
Bandwidth shared_rate(const MeasuredExchange& row, Bandwidth alone, const workload::GpuSpec& gpu) {
  const double queue = queue_bytes(row);
  const double buffers = 2.0 * row.ranks * static_cast<double>(row.bytes.count());
  const double slots = 2.0 * wire_bytes_per_byte(row.protocol);
  const double slow = workload::stream_slowness(queue + buffers, gpu) + slots * workload::stream_slowness(queue, gpu);
  const double memory = gpu.memory_bandwidth.count() * gpu.kernels[workload::KernelConstant::kStreamShare];
  const double service = slow / memory / ring_copies(row.protocol);
  // Fewer threads make a block slower, and memory not: the executor applies their speed to the whole.
  const double waiting = row.ranks * row.channels * service * thread_speed(plan_of(row));
  return Bandwidth(1.0 / (slow / (1.0 + slots) / alone.count() + waiting));
}

}  // namespace

std::vector<double> play_rings(std::span<const MeasuredExchange> rows, const PrimitiveCosts& costs,
                               const workload::GpuSpec& gpu) {
  std::vector<double> seconds(rows.size());
  std::vector<int> sizes;
  for (const MeasuredExchange& row : rows) sizes.push_back(row.ranks);
  std::ranges::sort(sizes);
  sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
  for (const int ranks : sizes) {
    configs::Scenario scenario = machine(ranks);
    scenario.comm.costs = {.launch = costs.launch};  // zero for the host, which the suite's launches hide
    configs::CollectiveBench bench(scenario);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const MeasuredExchange& row = rows[i];
      if (row.ranks != ranks) continue;
      for (ChannelCosts::OfProtocol& of : scenario.comm.costs.protocol) {
        of = {.hop = costs.hop, .primitive = costs.primitive, .rate = shared_rate(row, costs.rate, gpu)};
      }
      scenario.comm.plan = plan_of(row);
      const auto result = bench.run({.operation = configs::CollectiveOperation::kAllReduce, .bytes = row.bytes});
      CHECK(result.has_value(), "a ring simulates every size");
      seconds[i] = to_seconds(result->time);
    }
  }
  return seconds;
}

PrimitivesFit fit_primitives(std::span<const MeasuredExchange> all, Protocol protocol,
                             const workload::GpuSpec& gpu) {
  std::vector<MeasuredExchange> rows;
  std::ranges::copy_if(all, std::back_inserter(rows),
                       [&](const MeasuredExchange& row) { return row.protocol == protocol && !row.held_out; });
  const FitAnswer answer = fit(kBounds, [&](std::span<const double> values) {
    const std::vector<double> played = play_rings(rows, costs_of(values), gpu);
    double sum = 0.0;
    for (std::size_t i = 0; i < rows.size(); ++i) sum += std::abs(std::log(played[i] / rows[i].seconds));
    return rows.empty() ? 0.0 : sum / static_cast<double>(rows.size());
  });
  return {.protocol = protocol, .costs = costs_of(answer.values), .error = answer.error, .matters = answer.matters};
}

}  // namespace ringwright::validation
