#include "traces/chakra/wire_fields.h"

#include <algorithm>
#include <array>
#include <optional>

namespace ringwright::traces {
namespace {

std::optional<std::uint64_t> take_varint(std::string_view& rest) {
  if (!rest.empty() && static_cast<unsigned char>(rest[0]) < 0x80U) {
    const auto value = static_cast<unsigned char>(rest[0]);
    rest.remove_prefix(1);
    return value;
  }
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest[0]);
    rest.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  return std::nullopt;
}

// The bytes of a field's value; empty when they are damaged or of an unknown type.
std::optional<std::uint64_t> value_size(std::string_view& rest, WireType type) {
  switch (type) {
    case WireType::kVarint: return take_varint(rest) ? std::optional<std::uint64_t>(0) : std::nullopt;
    case WireType::kFixed64: return 8;
    case WireType::kLength: return take_varint(rest);
    case WireType::kFixed32: return 4;
  }
  return std::nullopt;
}

}  // namespace

bool has_only(std::string_view message, std::span<const WireField> known) {
  // Tags of one byte, as those of fields up to 15 are, by their bits.
  std::array<std::uint64_t, 2> known_tags{};
  for (const WireField& field : known) {
    const std::uint64_t tag = field.number << 3U | static_cast<std::uint64_t>(field.type);
    if (tag < 128) known_tags[tag >> 6U] |= std::uint64_t{1} << (tag & 63U);
  }
  while (!message.empty()) {
    const auto first = static_cast<unsigned char>(message[0]);
    WireType type{};
    if (first < 128 && (known_tags[first >> 6U] >> (first & 63U) & 1U) != 0) {
      type = static_cast<WireType>(first & 7U);
      message.remove_prefix(1);
    } else {
      const auto tag = take_varint(message);
      if (!tag) return false;
      type = static_cast<WireType>(*tag & 7U);
      const bool is_known = std::ranges::any_of(
          known, [&](const WireField& field) { return field.number == *tag >> 3U && field.type == type; });
      if (!is_known) return false;
    }
    const auto size = value_size(message, type);
    if (!size || *size > message.size()) return false;
    message.remove_prefix(*size);
  }
  return true;
}

}  // namespace ringwright::traces
