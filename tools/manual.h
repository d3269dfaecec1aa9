// What the commands say about themselves, as a man page and as completions for shells.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tools/command.h"

namespace ringwright::tools {

// "bash", "zsh", "fish".
inline constexpr std::array<std::string_view, 3> kShells = {"bash", "zsh", "fish"};

// In section 1, for `man -l` or an installed page.
[[nodiscard]] std::string manual_page(std::span<const std::unique_ptr<Command>> commands);

// A script that the shell sources. It completes commands, their options, scenarios by name, and files.
[[nodiscard]] std::string completion_script(std::string_view shell, std::span<const std::unique_ptr<Command>> commands);

}  // namespace ringwright::tools
