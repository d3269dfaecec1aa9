#include "core/base/user_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "core/base/units.h"

namespace ringwright {
namespace {

// An open file that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

std::string why_not_opened(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return "no such file";
    case EACCES:
    case EPERM: return "permission denied";
    case ENAMETOOLONG: return "the name is too long";
    case ELOOP: return "its links form a cycle";
    case ENXIO: return "it is a socket or a device";
    default: return "it cannot be opened";
  }
}

// Why the file cannot be read to an end; empty when it can.
std::string why_no_file(mode_t mode) {
  if (S_ISREG(mode) || S_ISFIFO(mode)) return "";
  return S_ISDIR(mode) ? "it is a directory" : "it is a device or a socket, not a file";
}

// Whether there is something to read, or the end of it, before the timeout.
bool await_data(int descriptor, std::chrono::milliseconds silence) {
  pollfd asked{.fd = descriptor, .events = POLLIN, .revents = 0};
  int ready = ::poll(&asked, 1, static_cast<int>(silence.count()));
  while (ready < 0 && errno == EINTR) ready = ::poll(&asked, 1, static_cast<int>(silence.count()));
  return ready > 0;
}

}  // namespace

tl::expected<std::string, std::string> read_user_file(const std::string& path, const FileLimits& limits) {
  // Non-blocking: does not wait for the writer of a pipe; no effect on regular files.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (file.number() < 0) return tl::unexpected(why_not_opened(errno));
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) return tl::unexpected(std::string("it cannot be read"));
  if (std::string why = why_no_file(status.st_mode); !why.empty()) return tl::unexpected(std::move(why));
  const std::string too_large = "it is larger than " + to_string(Bytes(static_cast<std::int64_t>(limits.bytes)));
  const bool regular = S_ISREG(status.st_mode);
  if (regular && static_cast<std::uint64_t>(status.st_size) > limits.bytes) return tl::unexpected(too_large);

  constexpr std::size_t kBlock = std::size_t{1} << 16U;
  std::string text;
  while (true) {
    if (!regular && !await_data(file.number(), limits.silence)) {
      return tl::unexpected(fmt::format("no data from this pipe for {} s",
                                        std::chrono::duration<double>(limits.silence).count()));
    }
    const std::size_t had = text.size();
    text.resize(had + kBlock);
    const ssize_t got = ::read(file.number(), text.data() + had, kBlock);
    const int error = errno;
    text.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (text.size() > limits.bytes) return tl::unexpected(too_large);
    if (got == 0) return text;
    if (got < 0 && error != EINTR && error != EAGAIN) return tl::unexpected(std::string("it cannot be read"));
  }
}

}  // namespace ringwright
