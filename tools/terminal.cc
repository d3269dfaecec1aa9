#include "tools/terminal.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace ringwright::tools {

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
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
