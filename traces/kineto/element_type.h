// Bytes of an element, by the names that PyTorch writes: c10 names ("BFloat16") and C++ names ("c10::BFloat16").
#pragma once

#include <optional>
#include <string_view>

namespace ringwright::traces {

// Empty for a name that is not known.
[[nodiscard]] std::optional<int> element_bytes(std::string_view type);

}  // namespace ringwright::traces
