// Values of a JSON text that simdjson parses on demand, read leniently: a number may be written as a string.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <simdjson.h>

#include "traces/input/decimal.h"
#include "traces/input/json_scanner.h"

namespace ringwright::traces {

namespace on_demand = simdjson::ondemand;

struct JsonDocument {
  on_demand::parser parser;
  on_demand::document document;

  // False when it is no JSON.
  [[nodiscard]] bool open(const JsonPiece& piece);
};

// The characters of a number, or of a string without its quotes; what begins an array or object.
[[nodiscard]] std::string_view token_of(on_demand::value& value);
[[nodiscard]] std::string_view token_of(simdjson::simdjson_result<on_demand::value>& value);
[[nodiscard]] std::optional<std::int64_t> maybe_number(on_demand::value& value);
[[nodiscard]] std::optional<std::int64_t> maybe_number(simdjson::simdjson_result<on_demand::value>& value);
// Of a string or a number; of a flat array as "[0, 1]".
[[nodiscard]] std::string text_of(on_demand::value& value);
[[nodiscard]] std::string text_of(simdjson::simdjson_result<on_demand::value>& value);

template <class Number>
[[nodiscard]] Number whole_number(on_demand::value& value, Number otherwise) {
  const auto number = maybe_number(value);
  if (!number || *number < std::int64_t{std::numeric_limits<std::int32_t>::min()}) return otherwise;
  if constexpr (sizeof(Number) < sizeof(std::int64_t)) {
    if (*number > std::int64_t{std::numeric_limits<Number>::max()}) return otherwise;
  }
  return static_cast<Number>(*number);
}

}  // namespace ringwright::traces
