// Scenarios drawn at random: small jobs on small machines that combine any settings of a configuration.
#pragma once

#include <cstdint>
#include <string>

namespace ringwright::configs {

// YAML. A pure function of the seed. A few of a hundred ask for incompatible settings, which the loader reports.
[[nodiscard]] std::string random_scenario(std::uint64_t seed);

// A number of a campaign (RINGWRIGHT_CAMPAIGN, how many scenarios; RINGWRIGHT_CAMPAIGN_FIRST, the first seed).
[[nodiscard]] std::uint64_t campaign_number(const char* name, std::uint64_t fallback);

}  // namespace ringwright::configs
