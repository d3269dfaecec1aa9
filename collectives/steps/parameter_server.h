// The exchange with parameter servers, which a group's layout names and no user chooses.
#pragma once

#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

[[nodiscard]] const CollectiveAlgorithm& parameter_server();

}  // namespace ringwright::collectives
