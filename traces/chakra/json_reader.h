// Reads the JSON form of a Chakra trace: {"workload_graph": [{"Id": 216, "Name": "gemm", "NodeType": 4, ...}]}.
//
// Keys of a node that are not its structure are attributes, with the names and meanings of the binary form. Other keys
// of the file are facts about it.
#pragma once

#include <string>
#include <string_view>

#include "traces/chakra/reader.h"

namespace ringwright::traces {

[[nodiscard]] Result<ChakraReading> read_chakra_json(const std::string& path);

// Whether the first bytes of a file (decompressed, 4 KiB or all of it) are those of a trace in the JSON form.
[[nodiscard]] bool looks_like_chakra_json(std::string_view beginning);

}  // namespace ringwright::traces
