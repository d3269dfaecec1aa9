// SHA-256, for the identity of configurations and input files (FIPS 180-4).
#pragma once

#include <string>
#include <string_view>

namespace ringwright {

// 64 hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view data);

}  // namespace ringwright
