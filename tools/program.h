// What the programs share: from argv to the exit code of a command. stdout carries results only; stderr diagnostics and
// progress.
#pragma once

#include <span>
#include <string_view>

#include "tools/command.h"

namespace ringwright::tools {

// `missing` ends the overview and the error for an unknown command: where the commands are that this program has not.
[[nodiscard]] int run_program(std::span<CommandFactory* const> commands, int argument_count, char** arguments,
                              std::string_view missing = {});

}  // namespace ringwright::tools
