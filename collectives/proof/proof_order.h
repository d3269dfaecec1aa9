// The two orders in which a proof runs ranks and thread blocks: a result that holds in both does not depend on a race.
#pragma once

namespace ringwright::collectives {

enum class ProofOrder { kAscending, kDescending };

}  // namespace ringwright::collectives
