// A group on the first of its hosts: the ranks that it has there, in their order.
#pragma once

#include "core/plan/collective_call.h"

namespace ringwright::configs {

// Every host has ranks of the group on the same GPUs, in the same order, and the same NICs.
[[nodiscard]] bool is_alike_on_hosts(const GroupLayout& layout);

[[nodiscard]] GroupLayout on_first_hosts(const GroupLayout& layout, int hosts);

}  // namespace ringwright::configs
