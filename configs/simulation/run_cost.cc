#include "configs/simulation/run_cost.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright::configs {
namespace {

// Measured on a 4 GHz-class core: a simulated task or message takes half a microsecond. Rounds of a ring that repeat
// are simulated at once; gpt3-175b-1024-a100 simulates 12.9 M messages in 0.08 s.
constexpr double kSecondsPerItem = 0.5e-6;
constexpr double kSecondsPerRepeatedMessage = 0.02e-6;
constexpr double kMemoryPerTask = 16.0;
// Repeated steps are left out once the repetition is proved.
constexpr int kStepsPlayed = 4;

std::string duration_text(double seconds) {
  if (seconds < 120.0) return fmt::format("{:.0f} s", seconds);
  if (seconds < 2.0 * 3600.0) return fmt::format("{:.0f} min", seconds / 60.0);
  return seconds < 48.0 * 3600.0 ? fmt::format("{:.1f} h", seconds / 3600.0)
                                 : fmt::format("{:.3g} days", seconds / 86'400.0);
}

std::string count_text(double count) {
  return count < 1e15 ? with_commas(static_cast<long long>(count)) : fmt::format("{:.2g}", count);
}

}  // namespace

RunCost cost_of_playing(const Scenario& scenario, const Simulation& simulation) {
  const Estimate all = estimate(simulation);
  const double iterations = simulation.plan().graph.iterations;
  const bool lasting = scenario.faults.last() && scenario.background.transfers.empty();
  const bool rounds = scenario.simulate.fast_forward && simulation.channels() == nullptr;
  const bool repeats = rounds && lasting;
  const double steps = repeats ? std::min<double>(iterations, kStepsPlayed) : iterations;
  const double tasks = all.tasks / iterations;
  const double messages = all.messages / iterations;
  const double exchanged = all.exchanged / iterations;
  const double per_message = rounds ? kSecondsPerRepeatedMessage : kSecondsPerItem;
  return {
      .seconds = steps * ((tasks + exchanged) * kSecondsPerItem + messages * per_message) +
                 all.overhead_messages * kSecondsPerItem,
      .memory = tasks * kMemoryPerTask,
      .counts = fmt::format("{} tasks and {} messages", count_text(steps * tasks),
                            count_text(steps * (messages + exchanged) + all.overhead_messages)),
      .at = {.file = scenario.simulate.steps_at.file}};
}

Diagnostics too_costly(const Scenario& scenario, const RunCost& cost) {
  if (scenario.simulate.allow_slow || (cost.seconds <= kMostSeconds && cost.memory <= kMostMemory)) return {};
  const std::string memory =
      cost.memory > kMostMemory ? fmt::format(" and {:.0f} GiB of memory", cost.memory / 0x1p30) : "";
  return failure(
      "E149",
      fmt::format("this run would take about {}{} of this machine: {}", duration_text(cost.seconds), memory,
                  cost.counts),
      cost.at,
      "make it smaller (fewer microbatches or steps, larger chunks, collectives.model: auto or closed_form), or run it "
      "anyway with --set simulate.allow_slow=true");
}

}  // namespace ringwright::configs
