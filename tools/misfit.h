// What does not fit into the memory of GPUs or hosts, with remedies.
#pragma once

#include <string>

#include "core/report/report.h"

namespace ringwright::tools {

// The fullest stage where memory does not suffice; empty when everything fits.
[[nodiscard]] std::string misfit(const Report& report);
// The same for memory and drives of the hosts.
[[nodiscard]] std::string misfit_of_hosts(const Report& report);

}  // namespace ringwright::tools
