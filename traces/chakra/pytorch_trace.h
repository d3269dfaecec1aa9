// PyTorch's execution trace of the host (JSON): operators as the CPU ran them, from which Chakra traces are converted.
//
// Its nodes are a tree of calls, not a graph of dependencies, and it has no times of kernels: it can be inspected here,
// not replayed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "traces/input/file_summary.h"

namespace ringwright::traces {

// {"schema": "1.1.1-chakra.0.0.4", ..., "nodes": [...]}.
[[nodiscard]] bool looks_like_pytorch_trace(std::string_view beginning);
struct PytorchOperator {
  std::uint64_t record = 0;  // rf_id: of the recorded function, ascending by start
  std::string name;
  Bytes input;  // of the first tensor among its inputs; 0: it has none
};

struct PytorchTrace {
  std::string schema;
  std::int64_t process = -1;               // pid
  std::vector<PytorchOperator> operators;  // by `record`; without the nodes of processes and threads
};

[[nodiscard]] Result<PytorchTrace> read_pytorch_trace(const std::string& path);
[[nodiscard]] FileSummary summarise_pytorch_trace(const std::string& path);

}  // namespace ringwright::traces
