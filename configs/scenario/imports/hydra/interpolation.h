// Hydra's interpolations: ${model.hidden_size}, ${multiply:4,${.hidden_size}}, ${oc.decode:${oc.env:TP,8}}, with the
// values of the file itself. What depends on the environment and has no default stays as it is written.
//
// Resolvers: those of OmegaConf (oc.env, oc.decode, oc.select), multiply of NeMo, and the arithmetic that the MLPerf
// submissions on NeMo register (add, div, floor_div, ceil_div, min, max, if, eq, ...).
#pragma once

#include "core/config/config_node.h"

namespace ringwright::configs {

[[nodiscard]] ConfigNode with_interpolations(const ConfigNode& root);

}  // namespace ringwright::configs
