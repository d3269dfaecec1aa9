#include "configs/scenario/rung_network.h"

#include <fmt/format.h>

namespace ringwright::configs {

void check_rung(ConfigMap root, const collectives::ChooserSettings& settings, const network_models::ModelEntry& model) {
  if (settings.rung != collectives::Rung::kCoupled || (model.shares_links && model.max_min)) return;
  root.map("collectives", "which algorithms carry out collectives")
      .error("model", "E440",
             fmt::format("'coupled' is a max-min fair rate on links that messages share, and simulate.network: {} {}",
                         model.name, model.shares_links ? "gives each sender its own" : "shares none"),
             "take 'simulate.network: flow', or 'collectives.model: closed_form'");
}

}  // namespace ringwright::configs
