// Tables of copies between a GPU and its host (`measure_gpu --families host_copies`), and the two constants of each
// way.
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
  Bytes bytes;      // each way
  double seconds = 0.0;
  bool kept_aside = false;  // never fitted
  int line = 0;
};

struct HostCopyTable {
  std::string file;
  std::string gpu;  // shipped name
  std::string source;
  std::vector<MeasuredCopy> rows;
};

[[nodiscard]] Result<HostCopyTable> read_host_copies(const std::string& path);
// The same for a text at hand; `name` stands in messages.
[[nodiscard]] Result<HostCopyTable> parse_host_copies(const std::string& name, std::string_view text);

// How the fabric plays PCIe and NVLink-C2C.
struct DmaPathCosts {
  std::string path;
  LatencyLine line;
};
// Of every way of the table, in the order in which they come; to rows that are not kept aside.
[[nodiscard]] std::vector<DmaPathCosts> fit_host_copies(const HostCopyTable& table);

}  // namespace ringwright::validation
