// PyTorch's execution trace of the host (JSON): operators as the CPU ran them, from which Chakra traces are converted.
//
// Its nodes are a tree of calls, not a graph of dependencies, and it has no times of kernels: it can be inspected here,
// not replayed.
#pragma once

#include <string>
#include <string_view>

#include "traces/input/file_summary.h"

namespace ringwright::traces {

// {"schema": "1.1.1-chakra.0.0.4", ..., "nodes": [...]}.
[[nodiscard]] bool looks_like_pytorch_trace(std::string_view beginning);
[[nodiscard]] FileSummary summarise_pytorch_trace(const std::string& path);

}  // namespace ringwright::traces
