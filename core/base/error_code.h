// What an error code means: the page behind `ringwright explain E110`. Each folder keeps a table of its own codes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright {

struct ErrorCode {
  std::string_view code;         // "E110"
  std::string_view title;        // "a quantity has no unit"
  std::string_view explanation;  // why it is an error, and the way out
  std::string_view example;      // an input and its repair
};

// The page, or empty when no table has the code. Case does not matter.
[[nodiscard]] std::string explain_error(std::span<const std::span<const ErrorCode>> tables, std::string_view code);

}  // namespace ringwright
