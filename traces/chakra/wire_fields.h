// Which fields a Protocol Buffers message has, read from its bytes: the lite runtime does not tell about unknown ones.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ringwright::traces {

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
};

// Whether each field of the message is one of these. False, too, for what is no message.
[[nodiscard]] bool has_only(std::string_view message, std::span<const WireField> known);

}  // namespace ringwright::traces
