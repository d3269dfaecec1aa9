// The channels that NCCL itself found, from its graph XML (NCCL_GRAPH_DUMP_FILE), instead of our own search.
//
//     <graphs version="1"><graph id pattern crossnic nchannels speedintra speedinter latencyinter typeintra typeinter
//       samechannels> <channel> <net dev/> <gpu dev/>... </channel>
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/nccl/graph.h"
#include "core/base/diagnostic.h"

namespace ringwright::collectives {

struct NcclGraphFile {
  std::optional<NcclGraph> ring;
  std::optional<NcclGraph> tree;
  std::optional<NcclGraph> nvls;
  std::optional<NcclGraph> collnet;
  int gpus = 0;                         // in each channel
  std::vector<std::vector<int>> rings;  // by channel: GPUs in the order of the ring
  std::vector<std::vector<int>> trees;  // by channel: GPUs in the order of the host's chain, its head first
};

[[nodiscard]] Result<NcclGraphFile> parse_nccl_graphs(std::string_view text, const std::string& name);

// What the file gives takes the place of what was found, for groups that hold all the file's GPUs on every host; others
// see other channels than those of the file.
[[nodiscard]] NcclGraphs with_file(NcclGraphs found, const NcclGraphFile& file, const GroupLayout& layout);

// How the file's channels pass through each host, as in CollectivePlan: rings and trees, each in its own order. Empty
// for other algorithms, and for groups that the file does not hold for.
[[nodiscard]] std::vector<std::vector<int>> circles_of_file(const NcclGraphFile& file, NcclAlgorithm algorithm,
                                                            const GroupLayout& layout);

}  // namespace ringwright::collectives
