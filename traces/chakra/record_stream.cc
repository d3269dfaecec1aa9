#include "traces/chakra/record_stream.h"

#include <algorithm>
#include <optional>
#include <span>

#include <fmt/format.h>

namespace ringwright::traces {
namespace {

// Nodes of PyTorch traces with the values of all their inputs take some hundred KiB.
constexpr std::uint64_t kLongestRecord = std::uint64_t{64} << 20U;
constexpr std::size_t kRecordBlock = std::size_t{1} << 20U;

// Empty at the end of the file.
tl::expected<std::optional<std::uint64_t>, std::string> read_length(ByteStream& bytes) {
  constexpr unsigned kLastShift = 28;  // five bytes: 32 bits
  std::uint64_t length = 0;
  for (unsigned shift = 0; shift <= kLastShift; shift += 7) {
    char byte = 0;
    const auto got = bytes.read(std::span(&byte, 1));
    if (!got) return tl::unexpected(got.error());
    if (*got == 0 && shift == 0) return std::nullopt;
    if (*got == 0) return tl::unexpected(std::string("the file ends within the length of a record"));
    length |= static_cast<std::uint64_t>(static_cast<unsigned char>(byte) & 0x7FU) << shift;
    if ((static_cast<unsigned char>(byte) & 0x80U) == 0) return length;
  }
  return tl::unexpected(std::string("the length of a record has more than 5 bytes"));
}

}  // namespace

tl::expected<bool, std::string> RecordStream::next() {
  offset_ = bytes_.position();
  const auto wrong = [&](const std::string& what) {
    return tl::unexpected(fmt::format("at byte {}: {}", offset_, what));
  };
  const auto length = read_length(bytes_);
  if (!length) return wrong(length.error());
  if (!*length) return false;
  if (**length > kLongestRecord) {
    return wrong(fmt::format("a record of {} bytes; at most {} MiB are read", **length, kLongestRecord >> 20U));
  }
  record_.clear();
  while (record_.size() < **length) {
    const std::size_t before = record_.size();
    record_.resize(std::min<std::size_t>(**length, before + kRecordBlock));
    const auto got = bytes_.read(std::span(record_).subspan(before));
    if (!got) return wrong(got.error());
    record_.resize(before + *got);
    if (*got == 0) {
      return wrong(fmt::format("the file ends after {} of the {} bytes of a record", before, **length));
    }
  }
  return true;
}

}  // namespace ringwright::traces
