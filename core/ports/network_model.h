// The port that says how long bytes take.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/ports/router.h"

namespace ringwright {

// Strict: what is low waits wherever high fills a link. The job's own traffic is high, background traffic may be low.
enum class Priority : std::uint8_t { kHigh, kLow };

struct Transfer {
  RankId from;
  RankId to;
  Bytes size;  // may be 0: then only latency is paid
  RouteKind route_kind = RouteKind::kWhole;
  MessageNics nics = {};
  std::uint32_t label = 0;  // as in RouteQuery
  // Sent this many times, each time when the one before has arrived: the steps of a ring, without news in between.
  std::uint32_t repeats = 1;
  // Stands for this many equal transfers side by side (channels that are alike): links count all of them.
  std::uint32_t copies = 1;
  // False: only its bytes' time is asked for; whoever starts it accounts for the latency of the way.
  bool pays_latency = true;
  Priority priority = Priority::kHigh;
  std::uint64_t token = 0;  // handed back when the last byte (of the last time) has arrived
};

class TransferListener {
 public:
  virtual ~TransferListener() = default;
  virtual void on_arrived(std::uint64_t token) = 0;
  // What the transfer of this token is, in terms that do not depend on when it was started: transfers of the same role
  // in two training steps have the same identity. For NetworkModel::state_digest.
  [[nodiscard]] virtual std::uint64_t identity(std::uint64_t token) const { return token; }
};

// What a link has carried since the start of the run.
struct LinkUsage {
  double bytes = 0.0;
  Duration busy;  // time with at least one flow on it
};

// A transfer between hosts of which nothing could be moved for longer than its NICs try.
struct GivenUp {
  RankId from;
  RankId to;
  std::optional<LinkId> link;  // on its way, that carries nothing; by link id of the router the model was made with
  TimePoint since;             // when it came to a stand
};

class NetworkModel {
 public:
  virtual ~NetworkModel() = default;

  // Starts moving bytes now. The listener is told at the instant the last byte arrives, never within start().
  virtual void start(const Transfer& transfer, TransferListener& listener) = 0;

  // --- the network changes while bytes are on their way; only for models whose table entry says so ---
  // From now on a link carries this much; nothing when it is 0. By link id of the router the model was made with.
  virtual void set_capacity(LinkId, Bandwidth) { CHECK(false, "this network model plays no faults"); }
  // The router's ways have changed: what is still to arrive of each transfer goes on along its new way.
  virtual void reroute() { CHECK(false, "this network model plays no faults"); }

  // The first transfer that was given up, with which the run has ended; empty: none was.
  [[nodiscard]] virtual std::optional<GivenUp> given_up() const { return std::nullopt; }

  // Whoever leaves out transfers whose course he knows sets their links aside: nobody else may use them from now until
  // then. False: somebody does already, or the model cannot watch.
  [[nodiscard]] virtual bool set_aside(std::span<const LinkId> /*links*/, TimePoint /*until*/) { return false; }
  // Whether somebody used a link while it was set aside.
  [[nodiscard]] virtual bool trespassed() const { return false; }

  // A hash of all that bears on the future of what is in flight, relative to the present time: equal digests at two
  // moments mean equal futures. Empty when the model cannot tell.
  [[nodiscard]] virtual std::optional<std::uint64_t> state_digest() const { return std::nullopt; }

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
