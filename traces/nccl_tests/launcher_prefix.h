// What launchers, collectors and terminals add to the lines of a test's output: a rank, a stream, a time, colours.
#pragma once

#include <string>
#include <string_view>

namespace ringwright::traces {

// The lines as the test printed them, as many as before: without escape sequences, and without what is in front of the
// heading of its table, as "[1,0]<stdout>:" (mpirun --tag-output), "0: " (srun --label) or a time, on every line that
// begins in the same form. Numbers in it may differ.
[[nodiscard]] std::string as_printed(std::string_view text);

}  // namespace ringwright::traces
