// ASTRA-sim's files of the analytical network and of the remote memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/astra/file_reading.h"

namespace ringwright::traces {

struct AstraNetwork {
  std::vector<std::string> topology;  // Ring, FullyConnected, Switch; by dimension, as all that follow
  std::vector<std::int64_t> npus;
  std::vector<double> bandwidth;  // GB/s of 2^30 bytes
  std::vector<double> latency;    // ns
};

enum class AstraMemoryKind : std::uint8_t { kNone, kPerNode, kPerNpu, kPool };

struct AstraMemory {
  AstraMemoryKind kind = AstraMemoryKind::kNone;
  std::int64_t latency = 0;  // ns
  double bytes_per_ns = 1.0;
  std::int64_t npus_per_node = 1;
};

[[nodiscard]] Result<AstraReading<AstraNetwork>> read_astra_network(const std::string& path);
[[nodiscard]] AstraNetwork read_astra_network(ConfigMap& root);
[[nodiscard]] Result<AstraReading<AstraMemory>> read_astra_memory(const std::string& path);
[[nodiscard]] AstraMemory read_astra_memory(ConfigMap& root);

}  // namespace ringwright::traces
