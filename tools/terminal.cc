#include "tools/terminal.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace ringwright::tools {
namespace {

// Only the first failure has the reason; later ones follow from it.
void report_failure(bool failed_before) {
  if (failed_before) return;
  std::fprintf(stderr, "error: cannot write to standard output: %s\n", std::strerror(errno));
}

}  // namespace

void print(const std::string& text) {
  const bool failed_before = std::ferror(stdout) != 0;
  if (std::fputs(text.c_str(), stdout) < 0) report_failure(failed_before);
}
Output flush_output() {
  const bool failed_before = std::ferror(stdout) != 0;
  if (std::fflush(stdout) != 0) report_failure(failed_before);
  return std::ferror(stdout) == 0 ? Output::kComplete : Output::kLost;
}
void tell(const std::string& text) {
  std::fputs(text.c_str(), stderr);
}

bool is_terminal(Stream stream) {
  return isatty(stream == Stream::kOut ? STDOUT_FILENO : STDERR_FILENO) == 1;
}

std::size_t terminal_width() {
  constexpr std::size_t kOfAFile = 100;
  constexpr std::size_t kNarrowest = 40;  // below this, the terminal may wrap tables
  winsize size{};
  if (!is_terminal(Stream::kOut) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kOfAFile;
  return size.ws_col < kNarrowest ? kNarrowest : size.ws_col;
}

bool wants_colour(Stream stream) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* terminal = std::getenv("TERM");
  return is_terminal(stream) && terminal != nullptr && std::string_view(terminal) != "dumb";
}

}  // namespace ringwright::tools
