// The framing of a Chakra trace: messages one after another, each after its length as a varint.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "traces/input/byte_stream.h"

namespace ringwright::traces {

// One record of it is in memory at a time; its memory grows with the bytes that the file really has, whatever length
// it claims.
class RecordStream {
 public:
  explicit RecordStream(ByteStream bytes) : bytes_(std::move(bytes)) {}

  // False at the end of the file. Or what is wrong, with the offset: "at byte 812: the record of 70 bytes ends after
  // 12".
  [[nodiscard]] tl::expected<bool, std::string> next();
  // The record that was read last, valid until the next one, and the offset of its length.
  [[nodiscard]] std::string_view record() const { return record_; }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

 private:
  ByteStream bytes_;
  std::string record_;
  std::uint64_t offset_ = 0;
};

}  // namespace ringwright::traces
