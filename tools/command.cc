#include "tools/command.h"

#include <cstdio>

namespace ringwright::tools {

ExitCode Command::refuse(const std::string& message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return ExitCode::kUsage;
}

ExitCode Command::refuse(const Diagnostics& diagnostics) {
  std::fputs(render(diagnostics).c_str(), stderr);
  return ExitCode::kUsage;
}

}  // namespace ringwright::tools
