// The grammar of single values: numbers, booleans and quantities with units, read here and not by the YAML library.
//
// Integers: 128, -1, 1_000, 1e9 (when integral), and with k, M or G for thousand, million, billion: 128k = 128,000.
// Numbers: the same and fractions: 0.5, .5, 1e-5. Refused: leading zeros (YAML 1.1 reads 016 as 14), 0x10, .nan, .inf.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "core/base/units.h"

namespace ringwright {

// What is wrong with a value; `says` continues the name of the key: "'parallel.tp' must be an integer, not 'two'".
struct ScalarError {
  std::string code;
  std::string says;
  std::string hint = {};
};

template <class T>
using Scalar = tl::expected<T, ScalarError>;

[[nodiscard]] Scalar<std::int64_t> read_integer(std::string_view text);
[[nodiscard]] Scalar<double> read_number(std::string_view text);
[[nodiscard]] Scalar<bool> read_boolean(std::string_view text);
[[nodiscard]] Scalar<double> read_ratio(std::string_view text);    // "2:1" or 2.0, above 0
[[nodiscard]] Scalar<double> read_percent(std::string_view text);  // "10%" or 0.1
[[nodiscard]] Scalar<Duration> read_duration(std::string_view text);
[[nodiscard]] Scalar<Bytes> read_bytes(std::string_view text);
[[nodiscard]] Scalar<Bandwidth> read_bandwidth(std::string_view text);
[[nodiscard]] Scalar<FlopRate> read_flop_rate(std::string_view text);

// A value as a user would write it; it reads back as the same value.
[[nodiscard]] std::string write_integer(std::int64_t value);
[[nodiscard]] std::string write_number(double value);
[[nodiscard]] std::string write_duration(Duration value);
[[nodiscard]] std::string write_bytes(Bytes value);
[[nodiscard]] std::string write_bandwidth(Bandwidth value);
[[nodiscard]] std::string write_flop_rate(FlopRate value);

// The units of a kind as a regular expression, "(ps|ns|us|ms|s|min|h)", and as a list for people.
enum class QuantityKind { kDuration, kBytes, kBandwidth, kFlopRate };
[[nodiscard]] std::string unit_pattern(QuantityKind kind);
[[nodiscard]] std::string unit_list(QuantityKind kind);

}  // namespace ringwright
