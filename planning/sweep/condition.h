// A condition on the keys of a point: "parallel.tp * parallel.pp <= 64", "training.recompute == full".
//
// Both sides are sums and products of numbers, quantities with units, and keys; a word is compared with == and != only.
// What is added or compared has the same unit; 0 needs none.
// Operators stand between blanks, since keys and words may hold '-' and units '/'.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace ringwright::planning {

class Condition {
 public:
  // The value of a key as text, in any spelling; empty where the point has no such value.
  using Lookup = std::function<std::optional<std::string>(std::string_view key)>;

  // Fails with what is wrong, to print behind the condition's text.
  [[nodiscard]] static tl::expected<Condition, std::string> parse(std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::vector<std::string>& keys() const { return keys_; }
  // Fails where a key has no value, where words are computed with, and where units differ.
  [[nodiscard]] tl::expected<bool, std::string> holds(const Lookup& lookup) const;

 private:
  friend class ConditionParser;
  enum class Kind { kValue, kKey, kAdd, kSubtract, kMultiply, kDivide, kRemainder };
  enum class Relation { kLess, kLessOrEqual, kEqual, kNotEqual, kGreaterOrEqual, kGreater };
  // Exponents: a bandwidth is bytes / seconds.
  struct Unit {
    int bytes = 0;
    int seconds = 0;
    int flops = 0;
    friend bool operator==(const Unit&, const Unit&) = default;
  };
  struct Value {
    std::optional<double> number;
    Unit unit = {};
    std::string word;  // as written
  };
  struct Step {  // of a side in postfix order
    Kind kind = Kind::kValue;
    Value value;
    std::size_t key = 0;
  };
  using Side = std::vector<Step>;

  [[nodiscard]] static Value value_of(std::string_view text);
  [[nodiscard]] static bool fit(const Value& left, const Value& right);
  [[nodiscard]] static tl::expected<Value, std::string> combined(Kind kind, const Value& left, const Value& right);
  [[nodiscard]] tl::expected<Value, std::string> evaluate(const Side& side, const Lookup& lookup) const;
  [[nodiscard]] static bool compare(double left, double right, Relation relation);

  std::string text_;
  std::vector<std::string> keys_;
  Side left_, right_;
  Relation relation_ = Relation::kEqual;
};

}  // namespace ringwright::planning
