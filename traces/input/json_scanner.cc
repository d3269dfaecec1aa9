#include "traces/input/json_scanner.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "core/config/text_lines.h"

namespace ringwright::traces {
namespace {

constexpr std::size_t kMarkBytes = 3;
constexpr std::size_t kReadBytes = std::size_t{64} << 10U;

enum class Mark : std::uint8_t { kPlain, kQuote, kOpen, kClose };

constexpr std::array<Mark, 256> kMarks = [] {
  std::array<Mark, 256> marks{};
  marks['"'] = Mark::kQuote;
  marks['{'] = marks['['] = Mark::kOpen;
  marks['}'] = marks[']'] = Mark::kClose;
  return marks;
}();

Mark mark_of(char c) {
  return kMarks[static_cast<unsigned char>(c)];
}

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

bool ends_scalar(char c) {
  return is_blank(c) || c == ',' || c == ':' || mark_of(c) != Mark::kPlain;
}

}  // namespace

JsonScanner::JsonScanner(ByteStream stream) : stream_(std::move(stream)) {}
JsonScanner::JsonScanner(std::string_view text) : rest_(text) {}

// Reads more bytes behind those present; what was taken makes room. False at the end of the file. `cursor` is an index
// into the buffer and moves with its byte.
bool JsonScanner::fill(std::size_t& cursor) {
  if (stop_ == ScanStop::kDamaged || stop_ == ScanStop::kTooLong) return false;
  if (end_ - at_ >= kMostValueBytes) {
    stop_ = ScanStop::kTooLong;
    return false;
  }
  if (at_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    first_ += at_;
    end_ -= at_;
    cursor -= at_;
    at_ = 0;
  }
  if (buffer_.size() < end_ + kReadBytes + kJsonPadding) {
    buffer_.resize(std::max(2 * buffer_.size(), end_ + kReadBytes + kJsonPadding));
  }
  std::size_t got = 0;
  if (stream_) {
    const auto read = stream_->read(std::span(buffer_).subspan(end_, kReadBytes));
    if (!read) {
      stop_ = ScanStop::kDamaged;
      damage_ = read.error();
      return false;
    }
    got = *read;
  } else {
    got = rest_.copy(buffer_.data() + end_, kReadBytes);
    rest_.remove_prefix(got);
  }
  end_ += got;
  if (got == 0) stop_ = ScanStop::kEnd;
  return got > 0;
}

// A byte order mark, as programs of Windows write it.
void JsonScanner::skip_mark() {
  while (end_ < kMarkBytes) {
    if (!fill(at_)) return;
  }
  at_ += end_ - without_byte_order_mark({buffer_.data(), end_}).size();
}

char JsonScanner::peek() {
  if (position() == 0 && end_ == 0) skip_mark();
  while (true) {
    while (at_ < end_ && is_blank(buffer_[at_])) ++at_;
    if (at_ < end_) return buffer_[at_];
    if (!fill(at_)) return '\0';
  }
}

bool JsonScanner::take(char wanted) {
  if (peek() != wanted) return false;
  if (at_ < end_) ++at_;
  return true;
}

std::optional<JsonPiece> JsonScanner::piece(std::size_t end) {
  const JsonPiece found{.text = std::string_view(buffer_.data() + at_, end - at_), .offset = position()};
  at_ = end;
  return found;
}

// From behind an opening quote to behind the closing one.
bool JsonScanner::find_quote(std::size_t& cursor) {
  while (true) {
    if (cursor >= end_ && !fill(cursor)) return false;
    const char c = buffer_[cursor++];
    if (c == '"') return true;
    if (c != '\\') continue;
    if (cursor >= end_ && !fill(cursor)) return false;
    ++cursor;
  }
}

// From behind an opening bracket to behind the one that closes it.
bool JsonScanner::find_bracket(std::size_t& cursor) {
  std::size_t depth = 1;
  while (depth > 0) {
    if (cursor >= end_ && !fill(cursor)) return false;
    switch (mark_of(buffer_[cursor++])) {
      case Mark::kPlain: break;
      case Mark::kQuote:
        if (!find_quote(cursor)) return false;
        break;
      case Mark::kOpen: ++depth; break;
      case Mark::kClose: --depth; break;
    }
  }
  return true;
}

std::optional<JsonPiece> JsonScanner::value() {
  const char first = peek();
  if (first == '\0' && at_ >= end_) return std::nullopt;
  std::size_t cursor = at_ + 1;
  switch (mark_of(first)) {
    case Mark::kQuote:
      if (!find_quote(cursor)) return std::nullopt;
      return piece(cursor);
    case Mark::kOpen:
      if (!find_bracket(cursor)) return std::nullopt;
      return piece(cursor);
    case Mark::kClose: stop_ = ScanStop::kSyntax; return std::nullopt;
    case Mark::kPlain: break;
  }
  if (ends_scalar(first)) {
    stop_ = ScanStop::kSyntax;
    return std::nullopt;
  }
  while (true) {
    if (cursor >= end_ && !fill(cursor)) {
      if (stop_ != ScanStop::kEnd) return std::nullopt;
      return piece(cursor);
    }
    if (ends_scalar(buffer_[cursor])) return piece(cursor);
    ++cursor;
  }
}

}  // namespace ringwright::traces
