// Attributes of a node in the types that they have here, whichever of the format's types the writer chose.
//
// Any integer, bool or real value that converts exactly is accepted, as writers differ: is_cpu_op, for one, is a bool
// in PyTorch's traces and an int32 in those of others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "traces/chakra/trace.h"
#include "traces/chakra/trace_builder.h"

namespace ringwright::traces {

// A value as a file gives it; nothing: a name without a value. Lists of numbers that are no bools are `OtherList`.
struct OtherList {
  std::string_view type;  // "a list of int64"
};
using ChakraValue = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string_view,
                                 std::vector<bool>, OtherList>;

// Sets what the attribute means, or counts it among the others. What is wrong, empty when nothing is: "attribute
// 'comm_size' is a text ('12'); a whole number is needed".
[[nodiscard]] std::string set_attribute(std::string_view name, const ChakraValue& value, ChakraTraceBuilder& builder,
                                        ChakraAttributes& attributes);

// The value for people: "0.0.4", "true", "12".
[[nodiscard]] std::string to_string(const ChakraValue& value);

}  // namespace ringwright::traces
