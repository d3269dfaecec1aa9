#include "workload/step/pass_labels.h"

#include "workload/pipeline/schedule_check.h"

namespace ringwright::workload {

std::uint32_t PassLabels::of(const Slot& slot) {
  constexpr std::size_t kPasses = 4;
  const std::size_t chunk = static_cast<std::size_t>(slot.microbatch) * static_cast<std::size_t>(chunks_) +
                            static_cast<std::size_t>(slot.chunk);
  const std::size_t place = chunk * kPasses + static_cast<std::size_t>(slot.pass);
  if (place >= labels_.size()) labels_.resize(2 * place + kPasses);
  std::uint32_t& label = labels_[place];
  if (label == 0) label = 1 + tables_.label(name_of(slot, chunks_));
  return label - 1;
}

}  // namespace ringwright::workload
