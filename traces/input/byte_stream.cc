#include "traces/input/byte_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "core/config/text_lines.h"

namespace ringwright::traces {
namespace {

constexpr unsigned kBufferBytes = 1U << 18U;
constexpr std::size_t kBlockBytes = std::size_t{1} << 20U;

// Empty: a regular file or a pipe.
std::string why_no_file(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  switch (status.type()) {
    case std::filesystem::file_type::not_found: return "no such file";
    case std::filesystem::file_type::directory: return "it is a directory";
    case std::filesystem::file_type::regular:
    case std::filesystem::file_type::fifo: return "";
    default: return error ? error.message() : "it is not a file";
  }
}

}  // namespace

struct ByteStream::Source {
  gzFile file = nullptr;
  std::string damage = {};  // behind what was read

  explicit Source(gzFile opened) : file(opened) {}
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() { gzclose(file); }
};

ByteStream::ByteStream(std::unique_ptr<Source> source) : source_(std::move(source)) {}
ByteStream::ByteStream(ByteStream&&) noexcept = default;
ByteStream& ByteStream::operator=(ByteStream&&) noexcept = default;
ByteStream::~ByteStream() = default;

tl::expected<ByteStream, std::string> ByteStream::open(const std::string& path) {
  if (std::string reason = why_no_file(path); !reason.empty()) return tl::unexpected(std::move(reason));
  errno = 0;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return tl::unexpected(std::string(errno != 0 ? std::strerror(errno) : "it cannot be opened"));
  gzbuffer(file, kBufferBytes);
  return ByteStream(std::make_unique<Source>(file));
}

tl::expected<std::size_t, std::string> ByteStream::read(std::span<char> out) {
  if (!source_->damage.empty()) return tl::unexpected(source_->damage);
  std::size_t filled = 0;
  while (filled < out.size()) {
    const auto wanted = static_cast<unsigned>(std::min(out.size() - filled, kBlockBytes));
    const int got = gzread(source_->file, out.data() + filled, wanted);
    int error = Z_OK;
    const char* message = gzerror(source_->file, &error);
    // zlib decompresses ahead: it reports the early end before it has given all that precedes it.
    if (got < 0 || error == Z_DATA_ERROR || (error == Z_BUF_ERROR && got == 0)) {
      if (error == Z_ERRNO) return tl::unexpected(std::string(std::strerror(errno)));
      const auto sound = static_cast<std::size_t>(std::max(got, 0));
      filled += sound;
      position_ += sound;
      source_->damage = fmt::format("its gzip data are damaged after {} decompressed bytes ({})", position_,
                                    error == Z_BUF_ERROR ? "the file ends early" : message);
      if (filled == 0) return tl::unexpected(source_->damage);
      return filled;
    }
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
    position_ += static_cast<std::uint64_t>(got);
  }
  return filled;
}

tl::expected<std::string, std::string> read_all(const std::string& path, std::size_t limit) {
  auto stream = ByteStream::open(path);
  if (!stream) return tl::unexpected(std::move(stream.error()));
  std::string text;
  while (true) {
    const std::size_t before = text.size();
    text.resize(std::min(before + kBlockBytes, limit + 1));
    const auto got = stream->read(std::span(text).subspan(before));
    if (!got) return tl::unexpected(got.error());
    text.resize(before + *got);
    if (text.size() > limit) return tl::unexpected(fmt::format("it is larger than {} MiB", limit >> 20U));
    if (*got > 0) continue;
    if (is_utf16(text)) return tl::unexpected(std::string(kUtf16Refused));
    text.erase(0, text.size() - without_byte_order_mark(text).size());
    return text;
  }
}

}  // namespace ringwright::traces
