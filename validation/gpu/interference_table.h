// Tables of kernels that ran concurrently with a kernel which copies or adds up bytes on a few multiprocessors, as
// collectives do (docs/interference.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "core/plan/kernel.h"

namespace ringwright::validation {

// Bytes of one stream: what a collective forwards.
struct MeasuredPair {
  Kernel kernel;
  bool adds = false;           // the copy blocks add
  std::int64_t sms = 0;        // that the copy blocks hold
  double alone_seconds = 0.0;  // of one launch of the kernel
  double together_seconds = 0.0;
  Bandwidth blocks_alone;
  Bandwidth blocks_together;
  bool held_out = false;  // never fitted
  int line = 0;
};

struct InterferenceTable {
  std::string file;
  std::string gpu;  // shipped name
  std::string source;
  std::vector<MeasuredPair> rows;
};

[[nodiscard]] Result<InterferenceTable> read_interference_table(const std::string& path);
// The same for a text in memory; `name` is used in messages.
[[nodiscard]] Result<InterferenceTable> parse_interference_table(const std::string& name, std::string_view text);

// "gemm 4096 x 4096 x 4096 next to reduce on 16 SMs".
[[nodiscard]] std::string pair_label(const MeasuredPair& pair);

}  // namespace ringwright::validation
