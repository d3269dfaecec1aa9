#include "traces/chakra/attribute.h"

#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace ringwright::traces {
namespace {

constexpr std::int64_t kLargestNumber = std::numeric_limits<std::int64_t>::max() - 1;

std::string type_of(const ChakraValue& value) {
  struct Names {
    std::string operator()(std::monostate) const { return "given without a value"; }
    std::string operator()(bool) const { return "a bool"; }
    std::string operator()(std::int64_t) const { return "an integer"; }
    std::string operator()(std::uint64_t) const { return "an integer"; }
    std::string operator()(double) const { return "a real number"; }
    std::string operator()(std::string_view) const { return "a text"; }
    std::string operator()(const std::vector<bool>&) const { return "a list of bools"; }
    std::string operator()(const OtherList& list) const { return std::string(list.type); }
  };
  return std::visit(Names(), value);
}

std::optional<std::int64_t> as_integer(const ChakraValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* number = std::get_if<std::uint64_t>(&value)) {
    if (*number > static_cast<std::uint64_t>(kLargestNumber)) return std::nullopt;
    return static_cast<std::int64_t>(*number);
  }
  constexpr double kRange = 9.2e18;  // within 64 bits, with a margin
  if (const auto* number = std::get_if<double>(&value)) {
    const bool whole = std::abs(*number) < kRange && !(*number > std::floor(*number));
    if (whole) return static_cast<std::int64_t>(*number);
  }
  return std::nullopt;
}

std::optional<std::int64_t> as_number_in(const ChakraValue& value, std::int64_t least, std::int64_t most) {
  const auto number = as_integer(value);
  return number && *number >= least && *number <= most ? number : std::nullopt;
}

std::optional<std::int64_t> as_count(const ChakraValue& value) {
  return as_number_in(value, 0, kLargestNumber);
}

// What an attribute accepts, in words, and how it is set; false when the value does not convert.
struct Meaning {
  std::string_view name;
  std::string_view needed;
  bool (*set)(const ChakraValue& value, ChakraTraceBuilder& builder, ChakraAttributes& attributes);
  bool (*has)(const ChakraAttributes& attributes);
};

template <auto kField>
bool has(const ChakraAttributes& attributes) {
  return (attributes.*kField).has_value();
}

template <std::optional<std::int64_t> ChakraAttributes::*kField>
bool set_integer(const ChakraValue& value, ChakraTraceBuilder&, ChakraAttributes& attributes) {
  attributes.*kField = as_integer(value);
  return (attributes.*kField).has_value();
}

bool set_count_of_operations(const ChakraValue& value, ChakraTraceBuilder&, ChakraAttributes& attributes) {
  attributes.num_ops = as_count(value);
  return attributes.num_ops.has_value();
}

template <auto kField>
bool set_quantity(const ChakraValue& value, ChakraTraceBuilder&, ChakraAttributes& attributes) {
  if (const auto count = as_count(value)) {
    (attributes.*kField).emplace(*count);
    return true;
  }
  return false;
}

bool set_is_cpu_op(const ChakraValue& value, ChakraTraceBuilder&, ChakraAttributes& attributes) {
  if (const auto number = as_number_in(value, 0, 1)) {
    attributes.is_cpu_op = *number == 1;
    return true;
  }
  return false;
}

bool set_comm_type(const ChakraValue& value, ChakraTraceBuilder&, ChakraAttributes& attributes) {
  if (const auto number = as_number_in(value, 0, static_cast<std::int64_t>(kChakraCollectives) - 1)) {
    attributes.comm_type = static_cast<ChakraCollective>(*number);
    return true;
  }
  return false;
}

// Groups are known by name; some writers number them.
bool set_pg_name(const ChakraValue& value, ChakraTraceBuilder& builder, ChakraAttributes& attributes) {
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    attributes.pg_name = builder.text(*text);
    return true;
  }
  const auto number = std::holds_alternative<bool>(value) ? std::nullopt : as_integer(value);
  if (!number) return false;
  attributes.pg_name = builder.text(std::to_string(*number));
  return true;
}

bool set_involved_dim(const ChakraValue& value, ChakraTraceBuilder&, ChakraAttributes& attributes) {
  const auto* list = std::get_if<std::vector<bool>>(&value);
  if (list == nullptr) return false;
  attributes.involved_dim = *list;
  return true;
}

constexpr std::string_view kIntegerNeeded = "a whole number";
constexpr std::string_view kCountNeeded = "a whole number of at least 0";
constexpr std::array kMeanings = {
    Meaning{"is_cpu_op", "a bool, or 0 or 1,", set_is_cpu_op, has<&ChakraAttributes::is_cpu_op>},
    Meaning{"comm_type", "a number of 0 to 9", set_comm_type, has<&ChakraAttributes::comm_type>},
    Meaning{"comm_size", kCountNeeded, set_quantity<&ChakraAttributes::comm_size>, has<&ChakraAttributes::comm_size>},
    Meaning{"comm_src", kIntegerNeeded, set_integer<&ChakraAttributes::comm_src>, has<&ChakraAttributes::comm_src>},
    Meaning{"comm_dst", kIntegerNeeded, set_integer<&ChakraAttributes::comm_dst>, has<&ChakraAttributes::comm_dst>},
    Meaning{"comm_tag", kIntegerNeeded, set_integer<&ChakraAttributes::comm_tag>, has<&ChakraAttributes::comm_tag>},
    Meaning{"comm_priority", kIntegerNeeded, set_integer<&ChakraAttributes::comm_priority>,
            has<&ChakraAttributes::comm_priority>},
    Meaning{"pg_name", "a text or a whole number", set_pg_name, has<&ChakraAttributes::pg_name>},
    Meaning{"involved_dim", "a list of bools", set_involved_dim, has<&ChakraAttributes::involved_dim>},
    Meaning{"num_ops", kCountNeeded, set_count_of_operations, has<&ChakraAttributes::num_ops>},
    Meaning{"tensor_size", kCountNeeded, set_quantity<&ChakraAttributes::tensor_size>,
            has<&ChakraAttributes::tensor_size>},
    Meaning{"tensor_loc", kIntegerNeeded, set_integer<&ChakraAttributes::tensor_loc>,
            has<&ChakraAttributes::tensor_loc>},
    Meaning{"stream", kIntegerNeeded, set_integer<&ChakraAttributes::stream>, has<&ChakraAttributes::stream>},
    Meaning{"buffer_bytes", kCountNeeded, set_quantity<&ChakraAttributes::buffer_bytes>,
            has<&ChakraAttributes::buffer_bytes>},
    Meaning{"duration_picos", kCountNeeded, set_quantity<&ChakraAttributes::duration_picos>,
            has<&ChakraAttributes::duration_picos>},
};

// A second value must be the first one.
std::string set_again(const Meaning& meaning, const ChakraValue& value, ChakraTraceBuilder& builder,
                      ChakraAttributes& attributes) {
  const ChakraAttributes before = attributes;
  if (meaning.set(value, builder, attributes) && attributes == before) return {};
  return fmt::format("attribute '{}' is given twice, with different values", meaning.name);
}

}  // namespace

std::string set_attribute(std::string_view name, const ChakraValue& value, ChakraTraceBuilder& builder,
                          ChakraAttributes& attributes) {
  for (const Meaning& meaning : kMeanings) {
    if (meaning.name != name) continue;
    if (meaning.has(attributes)) return set_again(meaning, value, builder, attributes);
    if (meaning.set(value, builder, attributes)) return {};
    const std::string text = to_string(value);
    return fmt::format("attribute '{}' is {}{}; {} is needed", name, type_of(value),
                       text.empty() ? "" : fmt::format(" ({})", text), meaning.needed);
  }
  builder.count_other(name);
  return {};
}

std::string to_string(const ChakraValue& value) {
  constexpr std::size_t kLongestText = 60;
  struct Texts {
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(std::uint64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(std::string_view text) const {
      return text.size() <= kLongestText ? std::string(text) : std::string(text.substr(0, kLongestText)) + "...";
    }
    std::string operator()(const std::vector<bool>&) const { return {}; }
    std::string operator()(const OtherList&) const { return {}; }
  };
  return std::visit(Texts(), value);
}

}  // namespace ringwright::traces
