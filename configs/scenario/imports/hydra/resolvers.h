// Functions of interpolations: ${multiply:4,8}.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ringwright::configs {

struct Resolved {
  std::string text;
  bool is_null = false;
};

// Empty: no such function, or it cannot take these values.
[[nodiscard]] std::optional<Resolved> resolved(std::string_view function, std::span<const Resolved> values);

}  // namespace ringwright::configs
