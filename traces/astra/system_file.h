// ASTRA-sim's system file: how ranks schedule their work and which algorithms their collectives use.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/foreign_file.h"

namespace ringwright::traces {

// The collectives for which a system file names algorithms, in this order.
enum class AstraCollective : std::uint8_t { kAllReduce, kAllGather, kReduceScatter, kAllToAll };
inline constexpr std::array<std::string_view, 4> kAstraCollectiveNames = {"all-reduce", "all-gather", "reduce-scatter",
                                                                          "all-to-all"};

// LogGP of the bus between accelerator and memory.
struct AstraSharedBus {
  double latency = 0.0;
  double overhead = 0.0;
  double gap_per_byte = 0.0;
};

struct AstraSystem {
  std::string scheduling_policy = "LIFO";  // LIFO, FIFO, EXPLICIT
  bool local_bandwidth_aware = false;
  std::int64_t endpoint_delay = 10;
  std::int64_t splits = 1;
  std::int64_t active_chunks = 1;
  double local_bytes_per_ns = 50.0;
  std::optional<double> peak_flops = {};
  bool roofline = false;
  bool replay_only = false;
  std::optional<AstraSharedBus> shared_bus = {};
  std::int64_t reduction_delay = 1;                              // of the shared bus, per 100 bytes
  std::array<std::vector<std::string>, 4> implementations = {};  // by AstraCollective and dimension
  std::array<std::string, 4> custom = {};                        // prefix of graphs; empty: none
};

[[nodiscard]] Result<ForeignReading<AstraSystem>> read_astra_system(const std::string& path);
// The same from a document that is already open.
[[nodiscard]] AstraSystem read_astra_system(ConfigMap& root);

}  // namespace ringwright::traces
