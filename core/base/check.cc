#include "core/base/check.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace ringwright {

void check_failed(const char* file, int line, const char* condition, std::string_view message) {
  const std::string text = std::string(file) + ":" + std::to_string(line) + ": internal error: " +
                           std::string(message) + " (" + condition + ")\n";
  std::fputs(text.c_str(), stderr);
  std::abort();
}

}  // namespace ringwright
