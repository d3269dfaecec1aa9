// Tables of copies between a GPU and its host (`measure_gpu --families host_copies`), and the two constants of each
// direction.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "validation/fit/latency_line.h"

namespace ringwright::validation {

struct MeasuredCopy {
  std::string path;  // "pinned, host to device"
  Bytes bytes;       // in each direction
  double seconds = 0.0;
  bool held_out = false;  // never fitted
  int line = 0;
};

struct HostCopyTable {
  std::string file;
  std::string gpu;  // shipped name
  std::string source;
  std::vector<MeasuredCopy> rows;
};

[[nodiscard]] Result<HostCopyTable> read_host_copies(const std::string& path);
// The same for a text in memory; `name` is used in messages.
[[nodiscard]] Result<HostCopyTable> parse_host_copies(const std::string& name, std::string_view text);

// The fabric's model of PCIe and NVLink-C2C.
struct DmaPathCosts {
  std::string path;
  LatencyLine line;
};
// Of every direction of the table, in order of first appearance; fitted to the rows that are not held out.
[[nodiscard]] std::vector<DmaPathCosts> fit_host_copies(const HostCopyTable& table);

}  // namespace ringwright::validation
