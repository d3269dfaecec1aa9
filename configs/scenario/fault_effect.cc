#include "configs/scenario/fault_effect.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace ringwright::configs {
namespace {

constexpr std::string_view kEffectCode = "E124";
constexpr double kMostLoss = 0.5;

constexpr std::array kStates = {Option{"down", "the link carries nothing; flows take another equal-cost path, or wait"},
                                Option{"degraded", "the link carries `factor` of its bandwidth"},
                                Option{"lossy", "the link loses `loss` of its packets, which are sent again"}};

// A share that a state needs and that no other has.
struct ShareKey {
  std::string_view name;
  std::string_view doc;
  std::string_view state;
  std::string_view missing;
  double most = 1.0;
  double example = 0.0;
};

// 0 where the state has none, or where it is wrong.
double read_share(ConfigMap& map, const ShareKey& share, std::string_view state) {
  const Key<double> key{.name = share.name, .doc = share.doc, .fallback = share.example, .min = 0.0, .max = share.most};
  if (map.documenting()) return map.percent(key);
  if (state != share.state) {
    if (!map.has(share.name)) return 0.0;
    map.error(share.name, std::string(kEffectCode),
              fmt::format("a link that is {} has no {}", state, share.name), fmt::format("state: {}", share.state));
    static_cast<void>(map.percent(key));
    return 0.0;
  }
  const double value = map.percent(key);
  if (map.has(share.name) && value > 0.0) return value;
  map.error(share.name, std::string(kEffectCode),
            fmt::format("'{}' must state {}", map.path_of(share.name), share.missing),
            fmt::format("{}: {:g}", share.name, share.example));
  return share.example;
}

}  // namespace

std::string FaultEffect::text() const {
  if (loss > 0.0) return fmt::format("loses {:.4g} % of its packets", 100.0 * loss);
  return is_down() ? "down" : fmt::format("at {:.4g} of its bandwidth", factor);
}

FaultEffect read_fault_effect(ConfigMap& map) {
  const std::string state =
      map.choice({.name = "state", .doc = "the kind of fault", .fallback = std::string("down")}, kStates);
  const double factor = read_share(map,
                                   {.name = "factor",
                                    .doc = "fraction of the bandwidth that is left; with state: degraded",
                                    .state = "degraded",
                                    .missing = "the fraction of the bandwidth that is left",
                                    .example = 0.5},
                                   state);
  const double loss = read_share(map,
                                 {.name = "loss",
                                  .doc = "share of packets that are lost; with state: lossy",
                                  .state = "lossy",
                                  .missing = "the share of packets that are lost, at most 50 %",
                                  .most = kMostLoss,
                                  .example = 0.001},
                                 state);
  if (state == "lossy") return {.factor = 1.0, .loss = loss};
  return {.factor = state == "degraded" ? factor : 0.0, .loss = 0.0};
}

}  // namespace ringwright::configs
