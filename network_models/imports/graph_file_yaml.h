// An explicit network as YAML or JSON: a list of nodes and a list of links.
//
//     nodes:
//       - {name: gpu0, kind: gpu}            kinds: gpu nic leaf spine core switch nvswitch pcie cpu dram storage
//       - {name: gpu1, kind: gpu, index: 0}  the rank of this GPU; default: order of the list
//     links:
//       - {from: gpu0, to: tor, bandwidth: 50GB/s, latency: 1.2us}                  both directions
//       - {from: gpu0, to: tor, bandwidth: 50GB/s, latency: 1.2us, duplex: false}   this direction only
#pragma once

#include "core/base/diagnostic.h"
#include "core/config/config_document.h"
#include "core/fabric/fabric.h"

namespace ringwright::network_models {

// All mistakes of the document at once, unknown keys too.
[[nodiscard]] Result<Fabric> read_graph_document(ConfigDocument document);

}  // namespace ringwright::network_models
