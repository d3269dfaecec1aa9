// Which GPUs of a host are joined by NVLink or xGMI without a switch.
#pragma once

#include <string_view>
#include <vector>

#include "core/config/config_map.h"
#include "network_models/host/host.h"

namespace ringwright::network_models {

// Every pair, with one lane.
[[nodiscard]] std::vector<MeshLink> full_mesh(int gpus);

// The key `mesh`: "0-3:2" for two lanes between GPU 0 and GPU 3. A shipped preset's list serves hosts with fewer GPUs,
// whose links are those among the first ones; for more GPUs than it names, it is an error.
[[nodiscard]] std::vector<MeshLink> read_mesh(ConfigMap& map, int gpus);

// Whether a shipped preset supplies the key.
[[nodiscard]] bool is_preset(const ConfigMap& map, std::string_view key);

}  // namespace ringwright::network_models
