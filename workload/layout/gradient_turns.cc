#include "workload/layout/gradient_turns.h"

#include <map>

namespace ringwright::workload {

std::vector<bool> reducing_slots(const std::vector<Slot>& slots, GradientReduction reduction) {
  std::vector<bool> reducing(slots.size(), false);
  std::map<int, std::size_t> last;  // by chunk
  std::size_t before = slots.size();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!ends_microbatch(slots[i].pass)) continue;
    last[slots[i].chunk] = i;
    if (reduction == GradientReduction::kMicrobatch) reducing[i] = true;
    const bool turned = before < slots.size() && slots[before].chunk != slots[i].chunk;
    if (reduction == GradientReduction::kMicrobatchGroup && turned) reducing[before] = true;
    before = i;
  }
  for (const auto& [chunk, slot] : last) reducing[slot] = true;
  return reducing;
}

}  // namespace ringwright::workload
