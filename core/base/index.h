// Container indices from the signed numbers of ranks, GPUs and chunks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringwright {

// `index` must not be negative.
[[nodiscard]] constexpr std::size_t at(std::int64_t index) {
  return static_cast<std::size_t>(index);
}

}  // namespace ringwright
