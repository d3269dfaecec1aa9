// Columns with the settings of the recipe that a row ran: `recipe_NAME`, of the source's newest release, and
// `tag_NAME`, of the release of the row.
#pragma once

#include <string>
#include <string_view>

#include "validation/tables/csv_table.h"

namespace ringwright::validation {

[[nodiscard]] bool is_recipe_column(std::string_view name);

// The settings as "NAME=VALUE; NAME=VALUE": those of the release of the row, or of the newest where `tag_match` says
// that they hold. Empty where neither is known.
[[nodiscard]] std::string recipe_of(const CsvTable& table, const CsvRow& row);

// The modules that such settings recompute, as words of column `recompute`; empty where they are not stated.
[[nodiscard]] std::string recompute_of(std::string_view recipe);

}  // namespace ringwright::validation
