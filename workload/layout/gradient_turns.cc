#include "workload/layout/gradient_turns.h"

#include <cstddef>

namespace ringwright::workload {

std::vector<bool> reducing_slots(const std::vector<Slot>& slots, GradientReduction reduction) {
  std::vector<bool> reducing(slots.size(), false);
  const std::size_t none = slots.size();
  std::vector<std::size_t> last;  // by chunk
  std::size_t before = none;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!ends_microbatch(slots[i].pass)) continue;
    const auto chunk = static_cast<std::size_t>(slots[i].chunk);
    if (chunk >= last.size()) last.resize(chunk + 1, none);
    last[chunk] = i;
    if (reduction == GradientReduction::kMicrobatch) reducing[i] = true;
    const bool turned = before != none && slots[before].chunk != slots[i].chunk;
    if (reduction == GradientReduction::kMicrobatchGroup && turned) reducing[before] = true;
    before = i;
  }
  for (const std::size_t slot : last) {
    if (slot != none) reducing[slot] = true;
  }
  return reducing;
}

}  // namespace ringwright::workload
