// The table of mistakes in collectives' settings and files.
#include "collectives/error_codes.h"

#include <array>

namespace ringwright::collectives {
namespace {

constexpr std::array kCodes = {
    ErrorCode{.code = "E180",
              .title = "a table of NCCL's cost model is wrong",
              .explanation =
                  "The file of a version lists, among others, the bandwidths of a channel that NCCL's search tries, "
                  "in falling order.",
              .example = "one_host: [30GB/s, 40GB/s]\none_host: [40GB/s, 30GB/s]"},
    ErrorCode{
        .code = "E181",
        .title = "a line of the tuner file cannot be read",
        .explanation =
            "A line has 8 to 10 fields: "
            "collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks[,numPipeOps[,regBuff]]. "
            "-1 stands for any; lines that begin with # are comments. The first line that matches a call "
            "applies.",
        .example = "allreduce,0,65536,tree,ll128,2\nallreduce,0,65536,tree,ll128,2,-1,-1"},
    ErrorCode{.code = "E182",
              .title = "an environment variable of NCCL cannot be used",
              .explanation = "Names and values in comm.env are NCCL's own. A name that NCCL does not know would change "
                             "nothing in a real job, and a value that NCCL cannot read would be refused or replaced.",
              .example = "env: {NCCL_ALGOS: Ring}\nenv: {NCCL_ALGO: Ring}"},
    ErrorCode{.code = "E183",
              .title = "there is no such version of the library",
              .explanation = "Versions are written as 2.27 or 2.27.3. A version without its own table uses that of "
                             "the newest older version, and the report states it.",
              .example = "nccl_version: newest\nnccl_version: \"2.27\""},
    ErrorCode{.code = "E184",
              .title = "an MSCCL file is wrong",
              .explanation =
                  "The file is checked and then proved: every send has its receive, every chunk is in its buffer, no "
                  "thread blocks wait for each other in a cycle, none race, and in the end every GPU holds the "
                  "collective's result. The line is that of the failing step.",
              .example = "<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"4\" cnt=\"1\"/> with i_chunks=\"4\"\n"
                         "<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"3\" cnt=\"1\"/>"},
    ErrorCode{.code = "E185",
              .title = "a graph file of NCCL is wrong",
              .explanation =
                  "The file is what NCCL_GRAPH_DUMP_FILE writes: <graphs> of <graph> of <channel>. Rings (pattern 4) "
                  "are required, each through the same GPUs.",
              .example = "comm: {graph: topology.xml}   # a file of the host, which begins with <system>\n"
                         "comm: {graph: graph.xml}"},
    ErrorCode{.code = "E186",
              .title = "the network switches do not reduce",
              .explanation =
                  "CollNet reduces over hosts in the network switches (SHARP). cluster.fabric.reduction sets whether "
                  "they support it. Where they do not, NCCL runs without CollNet, and so does the simulation.",
              .example = "comm: {env: {NCCL_COLLNET_ENABLE: 1}}\n"
                         "cluster: {fabric: {reduction: {enabled: true}}}"},
    ErrorCode{.code = "E187",
              .title = "an execution plan of MSCCL++ is wrong",
              .explanation =
                  "The plan is checked, linked and proved: every wait has its signal, every packet its writer, no "
                  "thread blocks wait for each other in a cycle, and in the end every GPU holds the collective's "
                  "result. Switch channels and pipelines are not simulated. The line is that of the failing "
                  "operation.",
              .example = "{\"name\": \"wait\", \"channel_ids\": [0], ...}   # and no signal on the other side\n"
                         "{\"name\": \"signal\", \"channel_ids\": [0], ...}   # there"},
    ErrorCode{.code = "E562",
              .title = "a variable is not one of the library's",
              .explanation =
                  "comm.library determines which variables comm.env may have: NCCL_* with nccl, rccl, horovod and "
                  "mscclpp, CCL_ALLREDUCE and the like with oneccl, HOROVOD_* with horovod. Names of algorithms are "
                  "oneCCL's; those that are not modelled (MPI's choice, a root that sends to all) are refused.",
              .example = "comm: {library: oneccl, env: {CCL_ALLREDUCE: rings}}\n"
                         "comm: {library: oneccl, env: {CCL_ALLREDUCE: \"recursive_doubling:0-8192;ring:8193-max\"}}"},
    ErrorCode{.code = "E563",
              .title = "the library does not run NCCL's kernels",
              .explanation =
                  "Channels, protocols, the cost of kernels and the choice of NCCL's cost model belong to NCCL and "
                  "RCCL. Calls of other libraries are messages: model closed_form, coupled or steps.",
              .example = "{comm: {library: gloo}, collectives: {model: chunks}}\n"
                         "{comm: {library: gloo}, collectives: {model: steps}}"},
    ErrorCode{.code = "W562",
              .title = "a cost of the library does not count",
              .explanation = "The cost of each message counts in steps only, and what Horovod adds to a call does not "
                             "count where NCCL's kernels are simulated.",
              .example = "{comm: {library: gloo}, collectives: {model: closed_form}}\n"
                         "{comm: {library: gloo}, collectives: {model: steps}}"},
    ErrorCode{.code = "W563",
              .title = "formulas of collectives do not share links where groups meet",
              .explanation =
                  "With 'collectives.model: closed_form' a collective takes the time of its group alone. Where several "
                  "groups of one dimension send over the same NIC or uplink at once, as with fewer NICs than GPUs, "
                  "each gets a share only, and the collectives take longer than the formula says. The factor is that "
                  "of the links between two hosts, all groups sending at full rate.",
              .example = "cluster: {node: {nic: {count: 1}}}, parallel: {tp: 4}, collectives: {model: closed_form}\n"
                         "cluster: {node: {nic: {count: 1}}}, parallel: {tp: 4}, collectives: {model: steps}"},
    ErrorCode{.code = "E360",
              .title = "there are no constants of classes in that place",
              .explanation =
                  "comm.classes is `measured` (values of machines of the same class), `planning`, or a folder "
                  "with files such as hopper.yaml and infiniband.yaml, as tools/class_values.py writes them.",
              .example = "comm: {classes: hopper}\ncomm: {classes: measured}"},
};

}  // namespace

std::span<const ErrorCode> collective_error_codes() {
  return kCodes;
}

}  // namespace ringwright::collectives
