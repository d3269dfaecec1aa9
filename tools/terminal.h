// The output device: a terminal of some width, or a file; with colours or without.
#pragma once

#include <cstddef>
#include <string>

namespace ringwright::tools {

enum class Stream { kOut, kError };

[[nodiscard]] bool is_terminal(Stream stream);
void tell(const std::string& text);  // diagnostics and progress, to standard error

// Results, to standard output. What cannot be written (a full disk) is reported once, with the system's reason.
void print(const std::string& text);
enum class Output { kComplete, kLost };
// What is printed so far, out to its reader: kLost where any of it could not be written.
Output flush_output();

// Columns of the terminal; 100 for a file.
[[nodiscard]] std::size_t terminal_width();
// On a terminal that is not "dumb", unless NO_COLOR is set (no-color.org).
[[nodiscard]] bool wants_colour(Stream stream);

}  // namespace ringwright::tools
