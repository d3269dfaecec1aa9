// A JSON text as a tree of plain values, for results that earlier commands wrote.
//
// Lookups of what is not there give a null value, so that a chain of them ends in one test:
//
//     const std::optional<double> mean = result["metrics"]["step_time_s"]["mean"].number();
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"

namespace ringwright::planning {

struct JsonValue {
  enum class Kind : std::uint8_t { kNull, kFlag, kNumber, kText, kList, kMap };

  Kind kind = Kind::kNull;
  double value = 0.0;             // of a number; of a flag 0 or 1
  std::string words;              // of a text
  std::vector<JsonValue> items;   // of a list, or the values of a map
  std::vector<std::string> keys;  // of a map, in the order written

  // The value of a key; null where this is no map or has no such key.
  [[nodiscard]] const JsonValue& operator[](std::string_view key) const;
  [[nodiscard]] std::optional<double> number() const;
  // NaN where it is no number: an unknown cell of a table.
  [[nodiscard]] double number_or_unknown() const;
  // Empty where it is no text.
  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] bool is_true() const { return kind == Kind::kFlag && value > 0.5; }
  // The texts of a list.
  [[nodiscard]] std::string joined(std::string_view between) const;
  // The items of a list; none where it is no list.
  [[nodiscard]] const std::vector<JsonValue>& list() const;
};

// What the tokens of a result's job, or of a point, are: "samples" of a recommendation model or a table of layers.
[[nodiscard]] std::string processed_of(const JsonValue& owner);

// What one result may hold, in about 110 bytes each: the table of a search of 5,000 layouts has 100,000 values.
inline constexpr std::size_t kMostJsonValues = 1'000'000;
inline constexpr std::size_t kMostJsonDepth = 64;

// `name` appears in messages. Errors: no JSON (E340, with line and column), too much of it (E341).
[[nodiscard]] Result<JsonValue> parse_json(const std::string& name, std::string_view text);

}  // namespace ringwright::planning
