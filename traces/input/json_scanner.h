// Cuts a JSON file into its values while it is read: the elements of a long array one by one, each as text.
//
// It knows brackets, strings and separators and nothing else, so that a file larger than memory is read in one pass and
// what precedes a cut-off end is retained. The texts of the values are for a parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/input/byte_stream.h"

namespace ringwright::traces {

// Parsers that read words of 64 bytes may read so far behind a value's end.
inline constexpr std::size_t kJsonPadding = 64;
// Of one value that is returned whole. A profiler's event takes a kilobyte, its head with all process groups a
// megabyte.
inline constexpr std::size_t kMostValueBytes = std::size_t{64} << 20U;

struct JsonPiece {
  std::string_view text;     // valid until the next call; kJsonPadding bytes behind it may be read
  std::uint64_t offset = 0;  // of its first byte in the decompressed file
};

enum class ScanStop : std::uint8_t {
  kNone,
  kEnd,      // the file ends, within a value or before one
  kDamaged,  // the rest cannot be decompressed
  kTooLong,  // a value of more than kMostValueBytes
  kSyntax,   // a character that cannot begin a value
};

class JsonScanner final {
 public:
  explicit JsonScanner(ByteStream stream);
  explicit JsonScanner(std::string_view text);  // outlives the scanner

  // The next character that is no white space, without taking it; 0 where the file ends or is damaged.
  [[nodiscard]] char peek();
  // Takes it when it is this one.
  [[nodiscard]] bool take(char wanted);
  // The next value, whole. Empty at an end, see `stop`.
  [[nodiscard]] std::optional<JsonPiece> value();
  [[nodiscard]] ScanStop stop() const { return stop_; }
  // What is wrong with the rest of a damaged file.
  [[nodiscard]] const std::string& damage() const { return damage_; }
  [[nodiscard]] std::uint64_t position() const { return first_ + at_; }

 private:
  void skip_mark();
  [[nodiscard]] bool fill(std::size_t& cursor);
  [[nodiscard]] std::optional<JsonPiece> piece(std::size_t end);
  [[nodiscard]] bool find_quote(std::size_t& cursor);
  [[nodiscard]] bool find_bracket(std::size_t& cursor);

  std::optional<ByteStream> stream_;
  std::string_view rest_;  // of a text in memory
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::uint64_t first_ = 0;  // offset of buffer_[0] in the file
  ScanStop stop_ = ScanStop::kNone;
  std::string damage_;
};

}  // namespace ringwright::traces
