// Reads a Chakra execution trace: the binary form (.et) or the JSON form, plain or gzip, by content.
//
// Other attributes than those of ChakraAttributes are counted by name. What the graph says is checked elsewhere
// (traces/chakra/check.h): a trace with dangling dependencies can be read and inspected.
#pragma once

#include <string>
#include <string_view>

#include "core/base/diagnostic.h"
#include "traces/chakra/trace.h"

namespace ringwright::traces {

enum class KeepTensors { kNo, kYes };  // inputs and outputs of all nodes

struct ChakraReadOptions {
  KeepTensors tensors = KeepTensors::kNo;
};

struct ChakraReading {
  ChakraTrace trace;
  Diagnostics warnings;
};

// All mistakes of the nodes at once (of the first hundred, when there are more).
[[nodiscard]] Result<ChakraReading> read_chakra(const std::string& path, const ChakraReadOptions& options = {});

// A node called so defines process groups in its inputs (PyTorch).
inline constexpr std::string_view kGroupsNodeName = "## process_group:init ##";

}  // namespace ringwright::traces
