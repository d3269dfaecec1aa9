// A scenario under other lines of a tuner file: what a tuner tries before it writes them.
#pragma once

#include <string_view>

#include "configs/scenario/scenario.h"

namespace ringwright::configs {

// `lines` in place of those of the scenario's own file, as NCCL's example plug-in reads them (docs/tune.md); empty:
// none. Lines that cannot be read are a bug of the caller.
[[nodiscard]] Scenario with_tuner_lines(Scenario scenario, std::string_view lines);

}  // namespace ringwright::configs
