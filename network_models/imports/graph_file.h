// An explicit network as a text file: one node or link a line (the form in YAML: graph_file_yaml.h).
//
//     # comment
//     node,NAME,KIND            kinds: gpu nic leaf spine core switch nvswitch pcie cpu dram storage
//     node,NAME,gpu,INDEX       the rank of this GPU; default: order of the lines
//     link,FROM,TO,BANDWIDTH,LATENCY          both directions, 50GB/s, 1.2us
//     link,FROM,TO,BANDWIDTH,LATENCY,oneway   this direction only
#pragma once

#include <string>
#include <string_view>

#include "core/base/diagnostic.h"
#include "core/config/input_file.h"
#include "core/fabric/fabric.h"

namespace ringwright::network_models {

// Reads this form. `name` is the file's name for messages. All mistakes of the file are returned at once.
[[nodiscard]] Result<Fabric> parse_graph(std::string_view text, const std::string& name);
// Reads a file: by its name YAML or JSON (.yaml, .yml, .json; graph_file_yaml.h), else the form above.
// JSON may also be a machine that TACCL profiled, of so many hosts (taccl_topology.h).
[[nodiscard]] Result<Fabric> read_graph_file(const InputFile& file, int hosts = 1);

}  // namespace ringwright::network_models
