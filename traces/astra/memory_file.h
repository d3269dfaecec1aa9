// ASTRA-sim's file of the remote memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/config/foreign_file.h"

namespace ringwright::traces {

enum class AstraMemoryKind : std::uint8_t { kNone, kPerNode, kPerNpu, kPool };

struct AstraMemory {
  AstraMemoryKind kind = AstraMemoryKind::kNone;
  std::int64_t latency = 0;  // ns
  double bytes_per_ns = 1.0;
  std::int64_t npus_per_node = 1;
  std::optional<std::int64_t> nodes = {};  // empty: as many as the ranks need
};

[[nodiscard]] Result<ForeignReading<AstraMemory>> read_astra_memory(const std::string& path);
[[nodiscard]] AstraMemory read_astra_memory(ConfigMap& root);

}  // namespace ringwright::traces
