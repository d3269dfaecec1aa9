#include "traces/astra/error_codes.h"

#include <array>

namespace ringwright::traces {
namespace {

constexpr std::array kAstraCodes = {
    ErrorCode{.code = "E270",
              .title = "a value in a configuration file of ASTRA-sim is wrong",
              .explanation =
                  "The files are read as ASTRA-sim reads them: switches are 0 or 1, lists have one entry per "
                  "dimension of the network,\nsizes and rates are plain numbers (bandwidth in GB/s of 2^30 "
                  "bytes, latency in ns).",
              .example = "topology: [ Ring, Swich ]\ntopology: [ Ring, Switch ]"},
    ErrorCode{.code = "W271",
              .title = "a key that ASTRA-sim does not read",
              .explanation = "It has no effect there, and none here. boost-mode, intra-dimension-scheduling and "
                             "inter-dimension-scheduling are in\nits documentation, but no longer in its source.",
              .example = "\"boost-mode\": 0"},
    ErrorCode{.code = "W272",
              .title = "a key or option of ASTRA-sim without effect on times",
              .explanation = "ASTRA-sim accepts --compute-scale and --comm-scale and never uses them; logging and "
                             "tracing only change what it\nwrites. ringwright writes its own report.",
              .example = "--compute-scale=2"},
    ErrorCode{.code = "E273",
              .title = "ranks of the network and of the workload differ",
              .explanation = "The network file says how many ranks there are: the product of npus_count. Each needs "
                             "its file PREFIX.RANK.et.",
              .example = "npus_count: [ 4, 2 ]   # ranks 0 to 7"},
    ErrorCode{.code = "E274",
              .title = "a collective that cannot be carried out",
              .explanation = "halvingDoubling and doubleBinaryTree need a power of two of ranks in their dimension, "
                             "halvingDoubling has no\nall-to-all, and doubleBinaryTree only an all-reduce. ASTRA-sim "
                             "hangs or crashes there. Each collective that a trace\nuses needs a list of algorithms "
                             "with one entry per dimension.",
              .example = "\"all-to-all-implementation\": [\"halvingDoubling\"]\n"
                         "\"all-to-all-implementation\": [\"direct\"]"},
    ErrorCode{.code = "E275",
              .title = "a node of a workload lacks what it needs",
              .explanation = "A send and a receive need comm_size, a peer and comm_tag; a collective comm_type and "
                             "comm_size; with roofline-enabled a\ncomputation on the GPU needs num_ops and "
                             "tensor_size; a memory node needs tensor_size and a remote memory.",
              .example = "node 12: COMM_SEND_NODE without comm_dst"},
    ErrorCode{.code = "E276",
              .title = "a communicator group that does not exist",
              .explanation = "pg_name of a collective is the number of a group in --comm-group-configuration, or empty "
                             "or 0 for all ranks. The rank\nthat calls the collective must be a member.",
              .example = "{\"1\": [0, 1, 2, 3]}   # pg_name \"1\""},
    ErrorCode{.code = "E277",
              .title = "the congestion-aware network cannot be built",
              .explanation = "ASTRA-sim's congestion-aware backend has one dimension, and no ring of two ranks.",
              .example = "ringwright astra --backend unaware ..."},
    ErrorCode{.code = "E278",
              .title = "the job never ends",
              .explanation = "Some ranks wait for others that never send, receive or call their collective. ASTRA-sim "
                             "ends here with exit code 0 and\nwithout a line for these ranks. The message lists who "
                             "waits for whom.",
              .example = "rank 1, node 7: receives 1024 bytes with tag 3 from rank 0, which sends no such message"},
    ErrorCode{.code = "E279",
              .title = "a run that ends after the end of the simulated clock",
              .explanation = "Times are whole nanoseconds up to 2^61. A duration, a latency or a size in the files is "
                             "far too large, or a bandwidth\nfar too small.",
              .example = "bandwidth: [ 50 ]   # GB/s"},
    ErrorCode{.code = "W280",
              .title = "a collective that ASTRA-sim does not simulate",
              .explanation = "A broadcast takes its recorded duration, as in ASTRA-sim. REDUCE, GATHER, SCATTER and "
                             "BARRIER end ASTRA-sim with an\nabort; here they take their recorded duration as well.",
              .example = "comm_type 9 (BARRIER)"},
    ErrorCode{.code = "W281",
              .title = "a value that had to be assumed",
              .explanation = "The key is not given, and the result depends on it.",
              .example = "\"local-mem-bw\": 1600"},
};

}  // namespace

std::span<const ErrorCode> astra_error_codes() {
  return kAstraCodes;
}

}  // namespace ringwright::traces
