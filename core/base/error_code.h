// What an error code means: the page behind `ringwright explain E110`. Each folder has a table of its own codes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright {

struct ErrorCode {
  std::string_view code;         // "E110"
  std::string_view title;        // "a quantity has no unit"
  std::string_view explanation;  // why it is an error, and the fix
  std::string_view example;      // an input and its correction
};

// The page, or empty when no table has the code. Case does not matter.
[[nodiscard]] std::string explain_error(std::span<const std::span<const ErrorCode>> tables, std::string_view code);

}  // namespace ringwright
