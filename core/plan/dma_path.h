// Ways of bytes that do not leave a host: between a rank's GPU and the memory or the storage beside it.
#pragma once

#include <cstdint>

namespace ringwright {

// Storage is reached through host memory, where a pinned buffer lies. Within memory: what a CPU reads and writes while
// it computes, the share of the bus that nobody else has meanwhile.
enum class DmaPath : std::uint8_t { kNone, kToMemory, kFromMemory, kToStorage, kFromStorage, kWithinMemory };

}  // namespace ringwright
