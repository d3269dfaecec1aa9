#include "traces/chakra/wire_fields.h"

#include <algorithm>
#include <optional>

namespace ringwright::traces {
namespace {

std::optional<std::uint64_t> take_varint(std::string_view& rest) {
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
  while (!message.empty()) {
    const auto tag = take_varint(message);
    if (!tag) return false;
    const auto type = static_cast<WireType>(*tag & 7U);
    const bool is_known = std::ranges::any_of(
        known, [&](const WireField& field) { return field.number == *tag >> 3U && field.type == type; });
    if (!is_known) return false;
    const auto size = value_size(message, type);
    if (!size || *size > message.size()) return false;
    message.remove_prefix(*size);
  }
  return true;
}

}  // namespace ringwright::traces
