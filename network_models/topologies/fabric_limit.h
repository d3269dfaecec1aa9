// How large a fabric may be: so many cables that one slip in a key cannot fill the memory of the machine.
#pragma once

#include <string_view>

#include "core/config/config_map.h"

namespace ringwright::network_models {

// Both directions of a cable, with their names and routes, take about 300 bytes.
inline constexpr double kMostCables = 20e6;

// An error at `key` when the switches would be joined by more.
void check_cables(ConfigMap& fabric, std::string_view key, double cables);

}  // namespace ringwright::network_models
