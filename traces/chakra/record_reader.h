// Reads the binary form of a Chakra trace: Protocol Buffers messages, one at a time.
#pragma once

#include <string>
#include <string_view>

#include "traces/chakra/reader.h"

namespace ringwright::traces {

[[nodiscard]] Result<ChakraReading> read_chakra_records(const std::string& path, const ChakraReadOptions& options = {});

// Whether the first bytes of a file (decompressed, 4 KiB or all of it) are those of a binary trace.
[[nodiscard]] bool looks_like_chakra_records(std::string_view beginning);

}  // namespace ringwright::traces
