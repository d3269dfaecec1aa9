// The page of `explain` about one version of NCCL: every value of its cost model with file, line and source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringwright::configs {

// `word` is "nccl-2.20" or "rccl". Empty: no such word, or no table of that version.
[[nodiscard]] std::string nccl_tables_page(std::string_view word);
// The words that have a page.
[[nodiscard]] std::vector<std::string> nccl_table_names();

}  // namespace ringwright::configs
