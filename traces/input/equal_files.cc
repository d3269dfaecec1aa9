#include "traces/input/equal_files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

#include "traces/input/byte_stream.h"

namespace ringwright::traces {
namespace {

constexpr std::size_t kCompared = std::size_t{1} << 18U;

// Memory that is not written before it is read into: most traces of many ranks are much shorter.
class Block {
 public:
  [[nodiscard]] std::span<char> bytes() { return {memory_.get(), kCompared}; }

 private:
  std::unique_ptr<char[]> memory_ = std::make_unique_for_overwrite<char[]>(kCompared);
};

// FNV-1a over words of eight bytes, with the high bits folded down.
tl::expected<std::uint64_t, std::string> hash_of(const std::string& path) {
  constexpr std::uint64_t kOffset = 0xcbf29ce484222325ULL;
  constexpr std::uint64_t kPrime = 0x00000100000001b3ULL;
  auto bytes = ByteStream::open(path);
  if (!bytes) return tl::unexpected(std::move(bytes.error()));
  std::uint64_t hash = kOffset;
  Block memory;
  const std::span<char> block = memory.bytes();
  while (true) {
    const auto got = bytes->read(block);
    if (!got) return tl::unexpected(got.error());
    for (std::size_t at = 0; at < *got; at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, block.data() + at, std::min(sizeof word, *got - at));
      hash = (hash ^ word) * kPrime;
      hash ^= hash >> 32U;
    }
    if (*got < block.size()) return hash;
  }
}

tl::expected<bool, std::string> are_equal(const std::string& path, const std::string& other) {
  auto first = ByteStream::open(path);
  if (!first) return tl::unexpected(std::move(first.error()));
  auto second = ByteStream::open(other);
  if (!second) return tl::unexpected(std::move(second.error()));
  Block memory, other_memory;
  const std::span<char> block = memory.bytes(), other_block = other_memory.bytes();
  while (true) {
    const auto got = first->read(block);
    if (!got) return tl::unexpected(got.error());
    const auto other_got = second->read(other_block);
    if (!other_got) return tl::unexpected(other_got.error());
    if (*got != *other_got || std::memcmp(block.data(), other_block.data(), *got) != 0) return false;
    if (*got < block.size()) return true;
  }
}

}  // namespace

tl::expected<std::size_t, std::string> EqualFiles::number_of(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) {
    // For the words of every reader: a directory, a missing file.
    const auto bytes = ByteStream::open(path);
    if (!bytes) return tl::unexpected(bytes.error());
    return tl::unexpected(error.message());
  }
  std::vector<Known>& same_size = by_size_[size];
  std::optional<std::uint64_t> hash;
  if (!same_size.empty()) {
    const auto own = hash_of(path);
    if (!own) return tl::unexpected(own.error());
    hash = *own;
  }
  for (Known& known : same_size) {
    if (!known.hash) {
      const auto found = hash_of(known.path);
      if (!found) return tl::unexpected(found.error());
      known.hash = *found;
    }
    if (known.hash != hash) continue;
    const auto equal = are_equal(path, known.path);
    if (!equal) return tl::unexpected(equal.error());
    if (*equal) return known.number;
  }
  same_size.push_back({.path = path, .number = known_, .hash = hash});
  return known_++;
}

}  // namespace ringwright::traces
