// The size limit of a fabric: a number of cables such that a typo in a key cannot exhaust the machine's memory.
#pragma once

#include <string_view>

#include "core/config/config_map.h"

namespace ringwright::network_models {

// Both directions of a cable, with their names and routes, take about 300 bytes.
inline constexpr double kMostCables = 20e6;

// An error at `key` when the switches would be connected by more.
void check_cables(ConfigMap& fabric, std::string_view key, double cables);

}  // namespace ringwright::network_models
