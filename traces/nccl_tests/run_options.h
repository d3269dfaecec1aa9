// How a test was run: variables of the library, and options that change what a time means.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::traces {

struct LibraryVariable {
  std::string name;
  std::string value;
};

// Of NCCL's own line "NCCL INFO NCCL_ALGO set by environment to Ring".
[[nodiscard]] std::optional<LibraryVariable> variable_in(std::string_view line);
// Of a command line with the test's program: "mpirun -x NCCL_ALGO=Ring ./all_reduce_perf".
[[nodiscard]] std::vector<LibraryVariable> variables_of_command(std::string_view line);

// NCCL's variables and those of the libraries below it; no user's name, no path.
[[nodiscard]] bool is_kept(const LibraryVariable& variable);

// Adds "NAME=VALUE" to a list that is separated by "; ", unless it has the name. False: it is not kept.
bool add_variable(const LibraryVariable& variable, std::string& list);

// Of such a list, which may also be written by hand: words before a name are remarks, and
// "allreduce:tree;broadcast:ring" is one value.
[[nodiscard]] std::vector<LibraryVariable> variables_in_list(std::string_view list);

// 16 of "... iters: 20 agg iters: 16 ..." for "agg iters:"; 0 without it.
[[nodiscard]] int count_after(std::string_view text, std::string_view label);

// 24 of NCCL's own line "NCCL INFO 24 coll channels, 24 collnet channels, ...": those of a communicator. 0: another
// line.
[[nodiscard]] int channels_in(std::string_view line);

// Times of a test that ran with -C are not those of collectives.
inline constexpr std::string_view kOfProcessor =
    "the times are those that the processor took to issue a call (cputime), not those of the collective";
inline constexpr std::string_view kWithoutC = "run the test without -C (--report_cputime)";

// Why times of calls that one launch issues together, or that CUDA graphs issue, differ from simulated ones.
[[nodiscard]] std::string why_aggregated_differs(int together);
[[nodiscard]] std::string why_graphs_differ();
// Why times of a test that waits for each call differ, and those of one whose ranks form several communicators.
[[nodiscard]] std::string why_blocking_differs();
[[nodiscard]] std::string why_groups_differ(std::size_t groups);

}  // namespace ringwright::traces
