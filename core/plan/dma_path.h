// DMA paths within a host: between a rank's GPU and the memory or storage of its host.
#pragma once

#include <cstdint>

namespace ringwright {

// Storage is accessed through a pinned buffer in host memory. Within memory: what a CPU reads and writes while it
// computes, over the bus bandwidth that nobody else uses meanwhile.
enum class DmaPath : std::uint8_t { kNone, kToMemory, kFromMemory, kToStorage, kFromStorage, kWithinMemory };

}  // namespace ringwright
