// Tables of all-reduces among thread blocks of one GPU that act as ranks (`measure_gpu --families primitives`).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "core/plan/collective_plan.h"

namespace ringwright::validation {

struct MeasuredExchange {
  Protocol protocol = Protocol::kSimple;
  int ranks = 0;
  int channels = 0;
  int threads = 0;
  Bytes slot;   // of memory, flags included
  Bytes bytes;  // of a rank's buffer
  double seconds = 0.0;
  bool held_out = false;  // never fitted
  int line = 0;

  // Useful data in one slot.
  [[nodiscard]] Bytes chunk() const;
};

struct PrimitivesTable {
  std::string file;
  std::string gpu;  // shipped name
  std::string source;
  std::vector<MeasuredExchange> rows;  // rings of queues with 8 slots
  std::size_t left_out = 0;  // rows of trees and of other numbers of slots, which the executor does not simulate
};

[[nodiscard]] Result<PrimitivesTable> read_primitives_table(const std::string& path);
// The same for a text in memory; `name` is used in messages.
[[nodiscard]] Result<PrimitivesTable> parse_primitives_table(const std::string& name, std::string_view text);

// "ll, 8 ranks, 4 channels of 512 threads, 1 MiB".
[[nodiscard]] std::string exchange_label(const MeasuredExchange& row);

}  // namespace ringwright::validation
