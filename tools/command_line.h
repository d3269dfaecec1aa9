// Parses argv into a command with its options; mistakes are reported with the nearest name.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command.h"

namespace ringwright::tools {

struct ParsedCommand {
  Command* command = nullptr;  // null: only `text` is printed
  CommonOptions common;
  std::string text;  // help or version for stdout, or the mistake for stderr
  ExitCode exit_code = ExitCode::kOk;
};

// `arguments` without the name of the program; `missing` ends the overview and the error for an unknown command.
[[nodiscard]] ParsedCommand parse(std::span<const std::unique_ptr<Command>> commands,
                                  const std::vector<std::string>& arguments, std::string_view missing = {});

}  // namespace ringwright::tools
