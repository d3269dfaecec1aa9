#include "tools/command.h"

#include <cstdio>

#include "planning/report/page.h"
#include "tools/terminal.h"
#include "tools/written_files.h"

namespace ringwright::tools {

OptionSpec threads_option(std::optional<std::uint64_t>* threads) {
  // Each holds a scenario of its own; more threads than cores only share them.
  constexpr std::uint64_t kMost = 256;
  return {
      .names = "-j", .value = "N", .doc = "threads; default: all cores", .target = threads, .least = 1, .most = kMost};
}

ExitCode Command::refuse(const std::string& message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return ExitCode::kUsage;
}

ExitCode Command::refuse(const Diagnostics& diagnostics) {
  std::fputs(render(diagnostics).c_str(), stderr);
  return ExitCode::kUsage;
}

void Command::warn(const Diagnostics& warnings, const CommonOptions& common) {
  if (!common.quiet && !warnings.all().empty()) tell(render(warnings));
}

ExitCode Command::write_to(const std::string& path, std::string_view text) {
  const std::string problem = write_file(path, text);
  return problem.empty() ? ExitCode::kOk : refuse("cannot write '" + path + "': " + problem);
}

ExitCode Command::write_page(const std::string& path, std::string_view json) {
  if (path.empty()) return ExitCode::kOk;
  const auto page = planning::page_of_result(json);
  return page ? write_to(path, *page) : refuse(page.error());
}

OptionSpec Command::page_option(std::string* path) {
  return {.names = "--html",
          .value = "FILE",
          .doc = "write the result as a page with charts",
          .target = path,
          .writes = true};
}

}  // namespace ringwright::tools
