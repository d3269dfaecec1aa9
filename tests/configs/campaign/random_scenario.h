// Scenarios drawn at random: small jobs on small machines that combine whatever a configuration can say.
#pragma once

#include <cstdint>
#include <string>

namespace ringwright::configs {

// YAML. A pure function of the seed. A few of a hundred ask for what does not go together, and the loader says so.
[[nodiscard]] std::string random_scenario(std::uint64_t seed);

}  // namespace ringwright::configs
