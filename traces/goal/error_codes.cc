#include "traces/goal/error_codes.h"

#include <array>

namespace ringwright::traces {
namespace {

constexpr std::array kGoalCodes = {
    ErrorCode{.code = "E390",
              .title = "a GOAL schedule cannot be read",
              .explanation = "Accepted are the text form and the binary form (txt2bin) of LogGOPSim and ATLAHS, plain "
                             "or gzip.\nPeers and tags are numbers; receives from any rank or of any tag are not "
                             "simulated.",
              .example = "num_ranks 2\nrank 0 {\n  l1: calc 1500\n  l2: send 1024b to 1 tag 7\n  l2 requires l1\n}\n"
                         "rank 1 {\n  recv 1024b from 0 tag 7\n}"},
    ErrorCode{.code = "E391",
              .title = "a recorded step is named twice, or not at all",
              .explanation = "'workload' replays Chakra execution traces, a GOAL schedule or a text workload: one of "
                             "them.",
              .example = "workload: {goal: step.goal}"},
};

}  // namespace

std::span<const ErrorCode> goal_error_codes() {
  return kGoalCodes;
}

}  // namespace ringwright::traces
