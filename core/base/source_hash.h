// Which sources and compiler the program was built from, of the sources that decide what a simulated point is: its
// folders core, network_models, collectives, workload, traces, configs and planning/study. Equal on all machines and in
// all folders.
#pragma once

#include <string_view>

namespace ringwright {

// The first twelve hexadecimal digits of a SHA-256; made when the program is built (source_hash.cmake).
[[nodiscard]] std::string_view source_hash();

}  // namespace ringwright
