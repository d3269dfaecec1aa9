// The question that a transfer asks the router.
#pragma once

#include "core/ports/network_model.h"
#include "core/ports/router.h"

namespace ringwright::network_models {

[[nodiscard]] inline RouteQuery query_of(const Transfer& transfer) {
  return {.from = transfer.from,
          .to = transfer.to,
          .route_kind = transfer.route_kind,
          .nics = transfer.nics,
          .label = transfer.label};
}

}  // namespace ringwright::network_models
