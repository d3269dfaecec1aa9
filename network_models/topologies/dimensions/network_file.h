// ASTRA-sim's file of the analytical network, network.yml.
#pragma once

#include <string>

#include "core/config/foreign_file.h"
#include "core/config/input_file.h"
#include "network_models/topologies/dimensions/astra_topology.h"

namespace ringwright::network_models {

[[nodiscard]] Result<ForeignReading<AstraTopology>> read_astra_network(const std::string& path);
[[nodiscard]] Result<ForeignReading<AstraTopology>> read_astra_network(const InputFile& file);
[[nodiscard]] AstraTopology read_astra_network(ConfigMap& root);

}  // namespace ringwright::network_models
