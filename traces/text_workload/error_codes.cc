#include "traces/text_workload/error_codes.h"

#include <array>

namespace ringwright::traces {
namespace {

constexpr std::array kTextWorkloadCodes = {
    ErrorCode{.code = "E622",
              .title = "a text workload cannot be read or replayed",
              .explanation = "The first line names the training loop and, with HYBRID_TRANSFORMER, the sizes of "
                             "groups; the second the\nnumber of rows; each row has 12 words: a name, a reserved "
                             "number, three times computing in ns, communication\nand bytes, and the update time in "
                             "ns. The groups divide the GPUs of the cluster.",
              .example = "DATA\n1\nconv1 -1 5000 NONE 0 4000 NONE 0 4500 ALLREDUCE 1048576 100"},
    ErrorCode{.code = "W623",
              .title = "a text workload has pipeline stages, or collectives that its loop does not call",
              .explanation = "Its rows are those of one rank. Which pass waits for which other stage is not in the "
                             "file; SimAI adds bubbles and\nmessages by formula. A scenario with a model simulates "
                             "them.",
              .example = "parallel: { pp: 8 }      # of a scenario with a model"},
};

}  // namespace

std::span<const ErrorCode> text_workload_error_codes() {
  return kTextWorkloadCodes;
}

}  // namespace ringwright::traces
