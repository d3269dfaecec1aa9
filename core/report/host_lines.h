// Lines of the report about hosts: what the fullest one stores, and how groups of nodes spend a step.
#pragma once

#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/report/report.h"

namespace ringwright {

// "133.04"
[[nodiscard]] std::string print_gib(Bytes size);

// "memory of host 0: 133.04 GiB of 2048.00: optimizer 114.04, gradients 19.01".
[[nodiscard]] std::vector<std::string> host_lines(const std::vector<HostRow>& hosts);

// "H100: 4 hosts; computes 45.2 %, communicates 10.1 %, waits 44.7 %", and which group waits for which. Empty where all
// hosts are of one kind.
[[nodiscard]] std::vector<std::string> group_lines(const Report& report);

}  // namespace ringwright
