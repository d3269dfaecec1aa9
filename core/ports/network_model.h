// The port that says how long bytes take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/ports/router.h"

namespace ringwright {

struct Transfer {
  RankId from;
  RankId to;
  Bytes size;  // may be 0: then only latency is paid
  Reach reach = Reach::kWhole;
  std::uint32_t label = 0;  // as in RouteQuery
  std::uint64_t token = 0;  // handed back when the last byte has arrived
};

class TransferListener {
 public:
  virtual ~TransferListener() = default;
  virtual void on_arrived(std::uint64_t token) = 0;
};

// What a link has carried since the start of the run.
struct LinkUsage {
  double bytes = 0.0;
  Duration busy;  // time with at least one flow on it
};

class NetworkModel {
 public:
  virtual ~NetworkModel() = default;

  // Starts moving bytes now. The listener is told at the instant the last byte arrives, never within start().
  virtual void start(const Transfer& transfer, TransferListener& listener) = 0;

  // By link id of the router the model was made with, up to date at the engine's present time.
  [[nodiscard]] virtual std::vector<LinkUsage> usage() const = 0;

  // Named counters for the report ("flows", "solves", "flows re-solved").
  struct Counter {
    std::string name;
    std::uint64_t value = 0;
  };
  [[nodiscard]] virtual std::vector<Counter> counters() const = 0;
};

}  // namespace ringwright
