// The two orders in which a proof runs ranks and thread blocks: what holds in both does not hang on a race.
#pragma once

namespace ringwright::collectives {

enum class ProofOrder { kAscending, kDescending };

}  // namespace ringwright::collectives
