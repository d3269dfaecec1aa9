#include "tools/command.h"

#include <cstdio>

#include "tools/written_files.h"

namespace ringwright::tools {

ExitCode Command::refuse(const std::string& message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return ExitCode::kUsage;
}

ExitCode Command::refuse(const Diagnostics& diagnostics) {
  std::fputs(render(diagnostics).c_str(), stderr);
  return ExitCode::kUsage;
}

ExitCode Command::write_to(const std::string& path, std::string_view text) {
  const std::string problem = write_file(path, text);
  return problem.empty() ? ExitCode::kOk : refuse("cannot write '" + path + "': " + problem);
}

}  // namespace ringwright::tools
