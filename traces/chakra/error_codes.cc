// The table of mistakes in Chakra execution traces.
#include "traces/chakra/error_codes.h"

#include <array>

namespace ringwright::traces {
namespace {

constexpr std::array kChakraCodes = {
    ErrorCode{.code = "E245",
              .title = "a Chakra trace cannot be read",
              .explanation = "A trace is a file of Protocol Buffers messages, each after its length (schema 0.0.4), or "
                             "JSON with a list 'workload_graph'; each may be compressed with gzip. The message names "
                             "the byte at which the file is damaged or cut off.",
              .example = "ringwright inspect step.0.et"},
    ErrorCode{.code = "W245",
              .title = "a Chakra trace has parts that are not read",
              .explanation = "Fields of a node that the format's version 0.0.4 does not have. Everything else is used.",
              .example = "ringwright inspect step.0.et"},
    ErrorCode{.code = "E246",
              .title = "an attribute of a node has a value that cannot be used",
              .explanation = "Writers of traces store one attribute in different types; any that converts exactly is "
                             "accepted (comm_size as int64, uint64, or a real number without a fraction). A text where "
                             "a number is needed is not.",
              .example = "node 12 ('all_reduce'): comm_size: \"1MiB\"   # a text\nnode 12 ('all_reduce'): comm_size: "
                         "1048576"},
    ErrorCode{.code = "E247",
              .title = "the traces of some ranks are missing",
              .explanation = "Every rank has a trace PREFIX.RANK.et (or .et.gz, or .json), counted from 0. Ranks that "
                             "share one are listed in PREFIX.ranks.json, which `ringwright run --chakra` writes.",
              .example = "ls step.*.et        # step.0.et step.1.et step.3.et: rank 2 is missing\n"
                         "step.ranks.json: {\"ranks\": 4, \"files\": [{\"file\": \"step.0.et\", \"ranks\": "
                         "\"0-3\"}]}"},
    ErrorCode{.code = "E248",
              .title = "the process groups of traces cannot be used",
              .explanation = "A file of groups is a JSON object that lists the ranks of each group by the name that "
                             "nodes have in pg_name; an empty list means all ranks. Traces of PyTorch define their "
                             "groups themselves, in nodes '## process_group:init ##', and all ranks must define a "
                             "group in the same form.",
              .example = "{\"1\": [0, 1], \"2\": [2, 3]}"},
    ErrorCode{.code = "E249",
              .title = "the nodes of a trace are no graph without cycles",
              .explanation = "Every id is that of one node, every dependency names a node of the same trace, and no "
                             "node waits for itself through others. Such a trace could never be simulated to its end.",
              .example = "node 7 depends on node 9, which is not in the trace   # cut off, or filtered"},
    ErrorCode{.code = "E250",
              .title = "messages of traces have no partner",
              .explanation =
                  "A send (COMM_SEND) from rank A to rank B with a tag needs a receive (COMM_RECV) of rank B "
                  "with comm_src A and the same tag; the n-th takes the n-th. Both state the same comm_size. "
                  "Without partners a replay would wait forever.",
              .example = "rank 0: COMM_SEND comm_dst: 1, comm_tag: 7\nrank 1: COMM_RECV comm_src: 0, comm_tag: 7"},
    ErrorCode{.code = "E251",
              .title = "a node of a trace cannot be replayed",
              .explanation =
                  "A collective needs comm_type and comm_size, a message comm_size and its peer (comm_dst of a "
                  "send, comm_src of a receive). GATHER and SCATTER are not simulated. Traces of PyTorch "
                  "do not name the peers of sends and receives.",
              .example = "node 12 ('send'): COMM_SEND comm_dst: 3, comm_size: 1048576, comm_tag: 0"},
    ErrorCode{.code = "E626",
              .title = "a recorded job cannot be replicated",
              .explanation = "workload.replicas simulates a recorded job as one of several data-parallel replicas. "
                             "Data-parallel process groups get the ranks of all replicas: those named in "
                             "workload.data_parallel_groups, else the groups that have all recorded ranks. There must "
                             "be one, of two ranks or more, and the number of GPUs must be `replicas` times the "
                             "number of recorded ranks.",
              .example = "workload: { chakra: step, groups: step.groups.json, replicas: 8, data_parallel_groups: "
                         "[\"1\", \"2\"] }"},
    ErrorCode{.code = "W626",
              .title = "recorded ranks own larger shards than those of the replicated job",
              .explanation = "With sharded data parallelism (ZeRO, FSDP) a rank of a larger job updates fewer "
                             "parameters. The recorded times of the optimizer are those of the recorded number of "
                             "ranks: the replicated step is too slow by what the optimizer would save. Collectives "
                             "keep the size of the whole buffer.",
              .example = "workload: { chakra: zero1-step, replicas: 4 }"},
    ErrorCode{.code = "W251",
              .title = "times of a trace are incomplete",
              .explanation =
                  "Nodes that compute take the time that the trace records; where there is none, none. "
                  "Collectives of no bytes and nodes of type 0 take none either. With "
                  "`workload.compute: roofline` only nodes with num_ops get a computed time. A collective that "
                  "names some dimensions of ASTRA-sim's network (involved_dim) joins all of its group.",
              .example = "workload: {chakra: step, compute: roofline}"},
    ErrorCode{.code = "E252",
              .title = "a file is no trace or log of a known kind",
              .explanation = "`ringwright inspect` recognises files by their content, whatever their names; "
                             "`ringwright inspect --help` lists the kinds. The traces of a job are named by their "
                             "common beginning.",
              .example = "ringwright inspect step.0.et\nringwright inspect step        # step.0.et, step.1.et, ..."},
    ErrorCode{.code = "E253",
              .title = "collectives of traces do not fit their process groups",
              .explanation =
                  "Each pg_name is a group of workload.groups, or one that the traces define; without a name, "
                  "or with \"0\", all ranks are meant. Only ranks of a group call its collectives, and all "
                  "of these call the same ones in the same order: a real job would hang otherwise.",
              .example = "groups.json: {\"1\": [0, 1]}    # rank 2 must not call a collective of group 1"},
    ErrorCode{.code = "E254",
              .title = "a scenario and traces do not go together",
              .explanation = "`workload` replays traces, which say what each rank does; model, training and parallel "
                             "would plan another step. In the other direction, `ringwright run --chakra` writes a step "
                             "as traces: the format has no messages to or from another training step, no stores into "
                             "a peer's memory, no drives, and no computing that communication slows.",
              .example = "workload: {chakra: traces/step, groups: groups.json}\ncluster: {nodes: 2, node: {preset: "
                         "dgx-h100}}"},
};

}  // namespace

std::span<const ErrorCode> chakra_error_codes() {
  return kChakraCodes;
}

}  // namespace ringwright::traces
