#include "workload/pipeline/steady_passes.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <utility>

namespace ringwright::workload {
namespace {

constexpr std::size_t kLongestCycle = 4096;

bool same_pass(const Slot& a, const Slot& b) {
  return a.pass == b.pass && a.chunk == b.chunk && a.joined == b.joined && a.in_turns == b.in_turns;
}

bool is_balanced(std::span<const Slot> cycle) {
  std::map<int, std::pair<int, int>> of_chunk;  // microbatches in flight, and those that wait for their weight gradient
  for (const Slot& slot : cycle) {
    auto& [in_flight, waiting] = of_chunk[slot.chunk];
    if (slot.pass == Pass::kForward) ++in_flight;
    if (ends_microbatch(slot.pass)) --in_flight;
    if (slot.pass == Pass::kInputGradient) ++waiting;
    if (slot.pass == Pass::kWeightGradient) --waiting;
  }
  return std::ranges::all_of(of_chunk, [](const auto& entry) { return entry.second == std::pair(0, 0); });
}

// A run of cycles, and how many of its passes repeat earlier ones.
struct CycleRun {
  std::size_t first = 0;
  std::size_t cycle = 0;
  std::size_t repeated = 0;
};

CycleRun run_around(std::span<const Slot> slots, std::size_t middle, std::size_t cycle) {
  const auto repeats = [&](std::size_t i) { return same_pass(slots[i], slots[i + cycle]); };
  std::size_t first = middle;
  while (first > 0 && repeats(first - 1)) --first;
  std::size_t end = middle;
  while (end + cycle < slots.size() && repeats(end)) ++end;
  return {.first = first, .cycle = cycle, .repeated = (end - first) / cycle * cycle};
}

// That in which most passes repeat others: a few passes of one chunk may be a cycle within the cycle of all chunks.
CycleRun longest_run(std::span<const Slot> slots) {
  const std::size_t middle = slots.size() / 2;
  const std::size_t longest = std::min(kLongestCycle, (slots.size() - middle) / 2);
  CycleRun best;
  for (std::size_t cycle = 2; cycle <= longest && 2 * best.repeated < slots.size(); ++cycle) {
    const auto first = slots.subspan(middle, cycle);
    if (!std::ranges::equal(first, slots.subspan(middle + cycle, cycle), same_pass) || !is_balanced(first)) continue;
    const CycleRun run = run_around(slots, middle, cycle);
    if (run.repeated > best.repeated) best = run;
  }
  return best;
}

// With `cycles` of them; the run has at least as many.
std::vector<Slot> with_cycles(const std::vector<Slot>& slots, const CycleRun& run, std::size_t cycles) {
  const auto kept = slots.begin() + static_cast<std::ptrdiff_t>(run.first + cycles * run.cycle);
  const std::size_t left_out = run.repeated - (cycles - 1) * run.cycle;
  std::vector<Slot> result(slots.begin(), kept);
  result.insert(result.end(), kept + static_cast<std::ptrdiff_t>(left_out), slots.end());
  return result;
}

}  // namespace

std::vector<Slot> without_repeated_cycles(const std::vector<Slot>& slots) {
  return with_cycles(slots, longest_run(slots), 1);
}

FewCycles with_few_cycles(const std::vector<Slot>& slots) {
  constexpr std::size_t kKept = 3;
  const CycleRun run = longest_run(slots);
  if (run.repeated < kKept * run.cycle || run.cycle == 0) return {.slots = slots, .cycles = {}};
  FewCycles few{.slots = with_cycles(slots, run, kKept), .cycles = {}};
  for (std::size_t cycle = 0; cycle <= kKept; ++cycle) few.cycles.push_back(run.first + cycle * run.cycle);
  return few;
}

}  // namespace ringwright::workload
