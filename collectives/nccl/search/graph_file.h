// The channels that NCCL itself found, from its graph XML (NCCL_GRAPH_DUMP_FILE), instead of our own search.
//
//     <graphs version="1"><graph id pattern crossnic nchannels speedintra speedinter latencyinter typeintra typeinter
//       samechannels> <channel> <net dev/> <gpu dev/>... </channel>
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/nccl/search/graph.h"
#include "core/base/diagnostic.h"

namespace ringwright::collectives {

struct NcclGraphFile {
  std::optional<NcclGraph> ring;
  std::optional<NcclGraph> tree;
  std::optional<NcclGraph> nvls;
  std::optional<NcclGraph> collnet;
  int gpus = 0;  // in each channel
};

[[nodiscard]] Result<NcclGraphFile> parse_nccl_graphs(std::string_view text, const std::string& name);

// Replaces the search result by the file's channels, for communicators with all the file's GPUs on every host; others
// keep their own channels.
[[nodiscard]] NcclGraphs with_file(NcclGraphs found, const NcclGraphFile& file, const GroupLayout& layout);

}  // namespace ringwright::collectives
