#include "collectives/key_effects.h"

#include <array>

namespace ringwright::collectives {

std::span<const KeyEffect> collective_key_effects() {
  static constexpr std::array kEffects = {
      KeyEffect{"comm.library", kNcclCounts, kNcclDoesNotCount},
      KeyEffect{"comm.nccl_version", kNcclCounts, kNcclDoesNotCount},
      KeyEffect{"comm.env.*", kNcclCounts, kNcclDoesNotCount},
      KeyEffect{"comm.tuner_config", kNcclCounts, kNcclDoesNotCount},
      KeyEffect{"comm.graph", kNcclCounts, kNcclDoesNotCount},
  };
  return kEffects;
}

}  // namespace ringwright::collectives
