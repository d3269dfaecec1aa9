// The syntax of NCCL_ALGO and NCCL_PROTO: "ring,tree", "^nvls", "allreduce:tree;broadcast:ring".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringwright::collectives {

// "ring,tree", "^nvls", "allreduce:tree;broadcast:ring": which of `names` each function may use. Returns what is wrong,
// or nothing. `chosen` by CollectiveKind, then by name; lists that omit a function do not change it.
[[nodiscard]] std::string parse_nccl_list(std::string_view text, const std::vector<std::string>& names,
                                          std::vector<std::vector<bool>>& chosen);

}  // namespace ringwright::collectives
