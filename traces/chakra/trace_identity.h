// The bytes that identify a Chakra trace: equal for traces that hold the same, whatever form their files have.
#pragma once

#include <string>

#include "traces/chakra/trace.h"

namespace ringwright::traces {

// For a hash; there is no way back. All of the trace but its file's name and the names of attributes without a meaning.
[[nodiscard]] std::string trace_identity(const ChakraTrace& trace);

}  // namespace ringwright::traces
