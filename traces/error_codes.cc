// The table of mistakes in measured and recorded files.
#include "traces/error_codes.h"

#include <array>

namespace ringwright::traces {
namespace {

constexpr std::array kCodes = {
    ErrorCode{.code = "E230",
              .title = "a measurement cannot be read",
              .explanation = "The path is relative to the directory in which the command runs.",
              .example = "ringwright validate nccl logs/all_reduce.log"},
    ErrorCode{.code = "E231",
              .title = "a file holds no measured collective",
              .explanation = "Accepted are the output of nccl-tests and rccl-tests, the JSON of nccl-tests (-J), and "
                             "tables with a column size_bytes. A log must hold the heading with the columns and at "
                             "least one row with a time.",
              .example = "all_reduce_perf -b 8 -e 8G -f 2 > all_reduce.log"},
    ErrorCode{.code = "W232",
              .title = "a row of a measurement is left out",
              .explanation = "It has fewer words than the heading has columns (a line that was cut off, or into which "
                             "another process wrote), or neither a time nor a bandwidth.",
              .example = "1048576   262144   float     sum      -1    84.2"},
    ErrorCode{.code = "W233",
              .title = "a measurement may be incomplete",
              .explanation = "The last lines of the test are missing, or its JSON is of another version. The rows that "
                             "are present are used.",
              .example = "# Avg bus bandwidth    : 123.4      (the line that ends a complete log)"},
    ErrorCode{.code = "W234",
              .title = "a measurement is doubtful",
              .explanation = "The test found wrong values, waited for each call (-z), ran in several groups at once, "
                             "its ranks are spread unevenly over the hosts, or time and "
                             "algbw of a row\ncontradict each other, as when its times are milliseconds. Its times are "
                             "used unchanged.",
              .example = "# Out of bounds values : 12 FAILED"},
};

}  // namespace

std::span<const ErrorCode> trace_error_codes() { return kCodes; }

}  // namespace ringwright::traces
