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
                             "group alike.",
              .example = "{\"1\": [0, 1], \"2\": [2, 3]}"},
    ErrorCode{.code = "E249",
              .title = "the nodes of a trace are no graph without cycles",
              .explanation = "Every id is that of one node, every dependency names a node of the same trace, and no "
                             "node waits for itself through others. Such a trace could never be played to its end.",
              .example = "node 7 depends on node 9, which is not in the trace   # cut off, or filtered"},
};

}  // namespace

std::span<const ErrorCode> chakra_error_codes() {
  return kChakraCodes;
}

}  // namespace ringwright::traces
