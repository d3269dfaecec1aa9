// The sizes that a collective is simulated at, in the syntax of nccl-tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"

namespace ringwright::tools {

// "8", "128M", "1.5G": K, M and G are 2^10, 2^20 and 2^30, as in nccl-tests; KiB, MB and the like are also accepted, as
// everywhere else in this program. Empty for other words and for sizes below 1 or above 1 PiB.
[[nodiscard]] std::optional<Bytes> parse_test_size(std::string_view text);

struct SizeRange {
  Bytes from;
  Bytes to;
  double factor = 2.0;             // to the next size, above 1
  std::optional<Bytes> increment;  // if set: sizes grow by this instead
};
[[nodiscard]] std::vector<Bytes> sizes_of(const SizeRange& range);

}  // namespace ringwright::tools
