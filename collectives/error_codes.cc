// The table of mistakes in collectives' settings and files.
#include "collectives/error_codes.h"

#include <array>

namespace ringwright::collectives {
namespace {

constexpr std::array kCodes = {
    ErrorCode{.code = "E180",
              .title = "a table of NCCL's cost model is wrong",
              .explanation = "The file of a version lists, among others, the bandwidths of a channel that NCCL's search "
                             "tries, each below the one before it.",
              .example = "one_host: [30GB/s, 40GB/s]\none_host: [40GB/s, 30GB/s]"},
    ErrorCode{.code = "E181",
              .title = "a line of the tuner file cannot be read",
              .explanation = "A line has 8 to 10 fields: collective_type,min_bytes,max_bytes,algorithm,protocol,channels,"
                             "nNodes,nRanks[,numPipeOps[,regBuff]]. -1 stands for any; lines that begin with # are "
                             "comments. The first line that fits a call decides.",
              .example = "allreduce,0,65536,tree,ll128,2\nallreduce,0,65536,tree,ll128,2,-1,-1"},
};

}  // namespace

std::span<const ErrorCode> collective_error_codes() {
  return kCodes;
}

}  // namespace ringwright::collectives
