// A machine as TACCL profiles it (taccl/topologies): times in us, and in us for each MB (10^6 bytes), of its links.
//
//     {name, gpus_per_node, nics_per_node, alpha, node_betas_list: [23, 46], remote_alpha, remote_beta, ...}
//     {name, gpus_per_node, nics_per_node, alpha, links: [[0, 1], [1, 0]], betas: [[0, 23], [23, 0]], remote_...}
//
// With one entry of node_betas_list the GPUs of a host are on one switch (DGX-2, hub and spoke), with two they are the
// cube mesh of NDv2, whose first number is that of two links. GPUs share the host's NICs in equal parts; NICs meet in
// one switch. *_invbws are bounds for TACCL's solver and not read.
#pragma once

#include "core/base/diagnostic.h"
#include "core/config/config_document.h"
#include "core/fabric/fabric.h"

namespace ringwright::network_models {

[[nodiscard]] bool is_taccl_topology(ConfigDocument& document);
// Of TACCL or TE-CCL, and no machine: an empty text otherwise.
[[nodiscard]] std::string_view why_no_machine(ConfigDocument& document);
[[nodiscard]] Result<Fabric> read_taccl_topology(ConfigDocument document, int hosts);

}  // namespace ringwright::network_models
