// Types of elements, by the names that PyTorch writes: c10 names ("BFloat16") and C++ names ("c10::BFloat16").
#pragma once

#include <optional>
#include <string_view>

#include "core/plan/kernel.h"

namespace ringwright::traces {

// Empty for a name that is not known.
[[nodiscard]] std::optional<int> element_bytes(std::string_view type);
// Of arithmetic; empty for integers and 64-bit floating point. 32 bits are kFp32.
[[nodiscard]] std::optional<DataType> data_type_of(std::string_view type);

}  // namespace ringwright::traces
