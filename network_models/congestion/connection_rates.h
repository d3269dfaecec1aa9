// Rates of connections between their messages: a queue pair goes on with the rate that its last message left it.
//
// While a connection is idle nothing of it is marked, and its rate rises as that of any sender (ReactionPoint). One
// that is back at its line rate begins anew: its rate limiter is released (Zhu et al., SIGCOMM 2015, section 3). So the
// steps of a ring are the same whether they are repetitions of one transfer or transfers of their own.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/ports/router.h"
#include "network_models/congestion/congestion_settings.h"
#include "network_models/congestion/reaction_point.h"

namespace ringwright::network_models {

// Messages of one connection take one path.
struct Connection {
  RankId from;
  RankId to;
  RouteKind route_kind = RouteKind::kWhole;
  MessageNics nics = {};
  std::uint32_t label = 0;

  friend auto operator<=>(const Connection&, const Connection&) = default;
};

class ConnectionRates {
 public:
  explicit ConnectionRates(const RateControl& control) : control_(control) {}

  // Numbers connections in the order in which they are first seen.
  [[nodiscard]] std::uint32_t number(const Connection& connection);
  // With what its next message begins.
  [[nodiscard]] ReactionPoint begin(std::uint32_t connection, double line, TimePoint now) const;
  // A message has ended. Of several that end at the same moment the slowest counts, in whatever order they end.
  void end(std::uint32_t connection, const ReactionPoint& point, TimePoint now);

 private:
  struct Left {
    ReactionPoint point;  // line 0: nothing was sent yet
    TimePoint since;
  };

  RateControl control_;
  std::map<Connection, std::uint32_t> numbers_;
  std::vector<Left> left_;
};

}  // namespace ringwright::network_models
