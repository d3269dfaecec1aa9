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
    ErrorCode{.code = "E624",
              .title = "a step cannot be written as a GOAL schedule",
              .explanation = "GOAL has calcs and messages between ranks. `ringwright run --goal` writes a collective "
                             "as the messages of its algorithm; sums in switches (NVLS, CollNet) and barriers of all "
                             "members are none. A schedule has at most 20 million operations, and 255 cpus in a rank.",
              .example = "collectives: {dp: {algorithm: ring}}"},
    ErrorCode{.code = "E625",
              .title = "the files of a step cannot be written",
              .explanation = "`ringwright run` with --chakra PREFIX, --goal FILE or --timeline FILE writes next to "
                             "existing files, or into folders that exist and may be written to.",
              .example = "mkdir traces\nringwright run llama.yaml --goal traces/step.goal"},
    ErrorCode{.code = "W625",
              .title = "traces of another step are next to those that were written",
              .explanation = "--chakra PREFIX replaces PREFIX.RANK.et of its own ranks and removes nothing. Traces of "
                             "further ranks, in another form, or a list PREFIX.ranks.json stay, and a replay of the "
                             "prefix reads them as well.",
              .example = "rm traces/step.*\nringwright run llama.yaml --chakra traces/step"},
    ErrorCode{.code = "W624",
              .title = "a GOAL schedule lacks something of the step",
              .explanation = "The schedule has the messages of each algorithm in steps. A run that simulates kernels, "
                             "formulas, costs of a library's steps, or ranks that progress together has other times "
                             "for collectives, so the schedule replayed takes another time than the step. Paths that "
                             "are chosen by hash (ECMP), and NICs that an algorithm names, may be others in the "
                             "replay.",
              .example = "collectives: {model: steps}"},
};

}  // namespace

std::span<const ErrorCode> goal_error_codes() {
  return kGoalCodes;
}

}  // namespace ringwright::traces
