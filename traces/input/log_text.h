// Words, numbers and names in measured logs, shared by the readers of their forms.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"

namespace ringwright::traces {

// What a reader of one form needs in addition to the text.
struct LogText {
  std::string name;
  std::string_view text;
};

template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

[[nodiscard]] std::string_view trimmed(std::string_view text);
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view line);
// Cut at every comma; empty cells stay.
[[nodiscard]] std::vector<std::string_view> cells_of(std::string_view line);

// "2.23.4" of "NCCL version 2.23.4+cuda12.4" or of a code such as 22304; empty when there is none.
[[nodiscard]] std::string library_version_in(std::string_view text);
// "all_reduce" of "logs/all_reduce_perf.2n.txt"; empty when no operation is named.
[[nodiscard]] std::string operation_in(std::string_view text);

// The operation of the test program that a line names, as in "mpirun -np 16 ./build/all_reduce_perf -b 8"; else empty.
[[nodiscard]] std::string tested_operation_in(std::string_view line);

// Of a row: microseconds, or derived from GB/s of algorithm bandwidth. Empty for neither, "N/A", zero.
[[nodiscard]] std::optional<Duration> measured_time(Bytes size, std::string_view microseconds, std::string_view algbw);

// Why the time and the algorithm bandwidth of a row cannot both be right, as when its times are in milliseconds; empty
// where they agree, or bandwidths are too small to be compared.
[[nodiscard]] std::string contradiction_of(Bytes size, std::string_view microseconds, std::string_view algbw);

// The busbw of a row divided by its algbw, by operation; for tables that give only busbw.
[[nodiscard]] double bus_factor_of(std::string_view operation, int ranks);

}  // namespace ringwright::traces
