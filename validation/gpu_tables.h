// What validators and calibrators of tables share that `validation/gpu` measured on one GPU.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"

namespace ringwright::validation {

// The files given, or those that are shipped for the family of measurements; told when there are neither.
[[nodiscard]] Result<std::vector<std::string>> tables_of(const std::vector<std::string>& files, std::string_view family);
// The one file of a calibration.
[[nodiscard]] Result<std::string> only_table(const std::vector<std::string>& files);
// W162 where --cluster was given: such a table names its GPU.
[[nodiscard]] Diagnostics cluster_has_no_effect(const std::optional<std::string>& cluster, std::string_view family);
// "2.3 %".
[[nodiscard]] std::string percent_text(double ratio);

}  // namespace ringwright::validation
