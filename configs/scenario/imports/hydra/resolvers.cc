#include "configs/scenario/imports/hydra/resolvers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "configs/scenario/imports/hydra/hydra_value.h"

namespace ringwright::configs {
namespace {

using Values = std::span<const Resolved>;
using Result = std::optional<Resolved>;

constexpr double kLargestWhole = 9e15;  // whole numbers below are exact

std::optional<double> number_of(const Resolved& value) {
  double number = 0.0;
  const char* const end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, number);
  if (value.is_null || value.text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

Result as_number(double number) {
  if (!std::isfinite(number) || std::abs(number) > kLargestWhole) return std::nullopt;
  if (number == std::floor(number)) return Resolved{.text = std::to_string(static_cast<std::int64_t>(number))};
  return Resolved{.text = fmt::format("{}", number)};
}

Result as_switch(bool on) {
  return Resolved{.text = on ? "true" : "false"};
}

bool is_true(const Resolved& value) {
  if (value.is_null || value.text.empty()) return false;
  if (const auto number = number_of(value)) return std::abs(*number) > 0.0;
  return switch_of(value.text).value_or(true);
}

bool is_equal(const Resolved& a, const Resolved& b) {
  const auto x = number_of(a);
  const auto y = number_of(b);
  if (x && y) return !(*x < *y) && !(*y < *x);
  return a.is_null == b.is_null && a.text == b.text;
}

struct Operation {
  std::string_view name;
  double (*apply)(double, double);
};
constexpr std::array kOperations{
    Operation{"multiply", [](double a, double b) { return a * b; }},
    Operation{"mul", [](double a, double b) { return a * b; }},
    Operation{"add", [](double a, double b) { return a + b; }},
    Operation{"sub", [](double a, double b) { return a - b; }},
    Operation{"subtract", [](double a, double b) { return a - b; }},
    Operation{"div", [](double a, double b) { return a / b; }},
    Operation{"divide", [](double a, double b) { return a / b; }},
    Operation{"floor_div", [](double a, double b) { return std::floor(a / b); }},
    Operation{"ceil_div", [](double a, double b) { return std::ceil(a / b); }},
    Operation{"min", [](double a, double b) { return std::min(a, b); }},
    Operation{"max", [](double a, double b) { return std::max(a, b); }},
};

// ${multiply:2,3,4} takes them from left to right.
Result operated(const Operation& operation, Values values) {
  std::optional<double> result;
  for (const Resolved& value : values) {
    const auto number = number_of(value);
    if (!number) return std::nullopt;
    result = result ? operation.apply(*result, *number) : *number;
  }
  return values.size() < 2 ? std::nullopt : as_number(*result);
}

Result of_one(std::string_view function, const Resolved& value) {
  if (function == "oc.decode") return value.text == "null" || value.text == "None" ? Resolved{.is_null = true} : value;
  if (function == "not") return as_switch(!is_true(value));
  const auto number = number_of(value);
  if (!number) return std::nullopt;
  if (function == "floor" || function == "int") return as_number(std::floor(*number));
  return function == "ceil" ? as_number(std::ceil(*number)) : std::nullopt;
}

Result of_two(std::string_view function, const Resolved& a, const Resolved& b) {
  if (function == "eq") return as_switch(is_equal(a, b));
  if (function == "neq") return as_switch(!is_equal(a, b));
  if (function == "and") return as_switch(is_true(a) && is_true(b));
  if (function == "or") return as_switch(is_true(a) || is_true(b));
  return std::nullopt;
}

}  // namespace

std::optional<Resolved> resolved(std::string_view function, std::span<const Resolved> values) {
  const auto* operation = std::ranges::find(kOperations, function, &Operation::name);
  if (operation != kOperations.end()) return operated(*operation, values);
  if (values.size() == 1) return of_one(function, values[0]);
  if (values.size() == 2) return of_two(function, values[0], values[1]);
  if (function != "if" || values.size() != 3) return std::nullopt;
  return is_true(values[0]) ? values[1] : values[2];
}

}  // namespace ringwright::configs
