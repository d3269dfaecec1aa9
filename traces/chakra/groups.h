// The process groups of a job's Chakra traces: from a file of groups, or from nodes that define them (PyTorch).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "traces/chakra/job.h"

namespace ringwright::traces {

struct ChakraGroup {
  std::string name;                  // pg_name of its nodes
  std::vector<std::uint32_t> ranks;  // in the order given, which is that of the group
};

struct ChakraGroups {
  std::vector<ChakraGroup> groups;
  std::map<std::string, std::uint32_t, std::less<>> by_name;  // index into `groups`
};

// {"1": [0, 1], "2": [2, 3]}, the file of ASTRA-sim's --comm-group-configuration. An empty list means all ranks.
// `ranks`: of the job; 0: unknown, and then no rank is too high.
[[nodiscard]] Result<ChakraGroups> read_group_file(const std::string& path, std::size_t ranks);
[[nodiscard]] Result<ChakraGroups> parse_group_file(const std::string& name, std::string_view text, std::size_t ranks);

// Those that METADATA nodes called "## process_group:init ##" define: inputs hold a JSON text [{"pg_name": "0",
// "ranks": [0, 1], ...}]; no ranks mean all. Definitions of one name by several ranks must agree.
[[nodiscard]] Result<ChakraGroups> groups_in_traces(const ChakraJob& job);

}  // namespace ringwright::traces
