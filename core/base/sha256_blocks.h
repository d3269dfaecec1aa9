// The compression function of SHA-256 (FIPS 180-4, 6.2.2), portable, and by the instructions that some processors have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ringwright {

using Sha256State = std::array<std::uint32_t, 8>;

inline constexpr std::size_t kSha256Block = 64;  // bytes

// Whole blocks.
void absorb_portably(Sha256State& state, std::string_view blocks);

[[nodiscard]] bool has_sha_instructions();
// Only where they exist.
void absorb_by_instructions(Sha256State& state, std::string_view blocks);

}  // namespace ringwright
