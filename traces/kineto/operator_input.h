// One input of a PyTorch operator, as the profiler records it with `record_shapes=True`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringwright::traces {

// More than any GPU holds: larger numbers of elements are not believed.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 46U;

struct OperatorInput {
  std::vector<std::int64_t> sizes;  // empty: no tensor, a scalar, or a list of tensors
  std::int64_t elements = 0;        // of the tensor, or of all tensors of a list; 0: neither
  std::string type;                 // "c10::BFloat16"; of a list, that of its first tensor
  std::string value;                // of what is no tensor: "True" (PyTorch 2.1 and newer)
};

}  // namespace ringwright::traces
