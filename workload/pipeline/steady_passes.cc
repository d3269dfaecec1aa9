#include "workload/pipeline/steady_passes.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
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

// The shortest cycle that the middle repeats.
std::optional<std::size_t> cycle_in(std::span<const Slot> slots) {
  const std::size_t middle = slots.size() / 2;
  const std::size_t longest = std::min(kLongestCycle, (slots.size() - middle) / 2);
  for (std::size_t cycle = 2; cycle <= longest; ++cycle) {
    const auto first = slots.subspan(middle, cycle);
    if (std::ranges::equal(first, slots.subspan(middle + cycle, cycle), same_pass) && is_balanced(first)) return cycle;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Slot> without_repeated_cycles(const std::vector<Slot>& slots) {
  const auto cycle = cycle_in(slots);
  if (!cycle) return slots;
  const auto repeats = [&](std::size_t i) { return same_pass(slots[i], slots[i + *cycle]); };
  std::size_t first = slots.size() / 2;
  while (first > 0 && repeats(first - 1)) --first;
  std::size_t end = slots.size() / 2;
  while (end + *cycle < slots.size() && repeats(end)) ++end;
  const auto left_out = static_cast<std::ptrdiff_t>((end - first) / *cycle * *cycle);
  std::vector<Slot> result(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(first + *cycle));
  result.insert(result.end(), slots.begin() + static_cast<std::ptrdiff_t>(first + *cycle) + left_out, slots.end());
  return result;
}

}  // namespace ringwright::workload
