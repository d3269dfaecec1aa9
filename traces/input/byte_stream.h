// The bytes of a trace file in order, decompressed where the content is gzip (whatever the name).
//
// Reads in blocks of bounded size, so that a trace may be larger than memory. One descriptor is open while the stream
// lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace ringwright::traces {

class ByteStream final {
 public:
  // Or what is wrong, to print after the name: "no such file", "it is a directory".
  [[nodiscard]] static tl::expected<ByteStream, std::string> open(const std::string& path);
  ByteStream(ByteStream&&) noexcept;
  ByteStream& operator=(ByteStream&&) noexcept;
  ~ByteStream();

  // Fills `out`; fewer bytes only at the end of the file, and before damaged data, which the next call reports: "its
  // gzip data are damaged after 812 decompressed bytes (the file ends early)".
  [[nodiscard]] tl::expected<std::size_t, std::string> read(std::span<char> out);
  // Decompressed bytes read so far.
  [[nodiscard]] std::uint64_t position() const { return position_; }

 private:
  struct Source;
  explicit ByteStream(std::unique_ptr<Source> source);

  std::unique_ptr<Source> source_;
  std::uint64_t position_ = 0;
};

// The whole content of a file, decompressed, without the byte order mark of a text. An error where it is UTF-16, or
// longer than `limit` bytes (a gzip file of a kilobyte may hold a gigabyte of zeros).
[[nodiscard]] tl::expected<std::string, std::string> read_all(const std::string& path, std::size_t limit);

}  // namespace ringwright::traces
