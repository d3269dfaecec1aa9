// Decimal numbers of a text as whole numbers, without a double in between.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ringwright::traces {

// A decimal number times 10^digits, exactly, digits beyond cut; empty for other text and beyond 64 bits.
[[nodiscard]] std::optional<std::int64_t> scaled_decimal(std::string_view text, int digits);

}  // namespace ringwright::traces
