// The port for the time of transfers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/ports/ring_shape.h"
#include "core/ports/router.h"

namespace ringwright {

// Strict: low waits wherever high fills a link. The job's own traffic is high, background traffic may be low.
enum class Priority : std::uint8_t { kHigh, kLow };

struct Transfer {
  RankId from;
  RankId to;
  Bytes size;  // may be 0: then only latency is paid
  RouteKind route_kind = RouteKind::kWhole;
  MessageNics nics = {};
  std::uint32_t label = 0;  // as in RouteQuery
  // Sent this many times, each time when the previous one has arrived: the steps of a ring, without notifications in
  // between.
  std::uint32_t repeats = 1;
  // Stands for this many equal parallel transfers (identical channels): links count all of them.
  std::uint32_t copies = 1;
  // False: only the time of its bytes counts; the caller accounts for the latency of the path.
  bool pays_latency = true;
  Priority priority = Priority::kHigh;
  std::uint64_t token = 0;  // handed back when the last byte (of the last time) has arrived
};

// Coupled calls up to this size take the latency of their steps and do not load links: at 25 GB/s a step of so many
// bytes takes 40 ns.
inline constexpr Bytes kCoupledLatencyOnly{1024};

// Messages that move together: at any time each has moved the same part of its bytes. A step of a collective by all its
// members, `steps` times one after another; the longest latency is paid each time.
struct CoupledMessage {
  RouteQuery query;
  Bytes size;
  std::uint32_t among = 1;  // messages of the transfer that stand for its sender's class, where ranks are folded
};
struct CoupledTransfer {
  std::span<const CoupledMessage> messages;  // unchanged as long as the network exists
  std::uint32_t steps = 1;
  std::uint64_t token = 0;
};

// The messages over one edge of a ring (core/ports/ring_shape.h).
struct RingEdge {
  RankId from;
  RankId to;
  MessageNics nics = {};
  std::uint32_t label = 0;  // as in RouteQuery
  // Message k has sizes[(first - k) modulo their number] bytes. Unchanged as long as the network exists.
  std::span<const Bytes> sizes;
  std::uint32_t first = 0;
};
// One member's: message k of all its edges leaves when their messages k-1 and those that it awaits have arrived.
struct RingMember {
  std::span<const RingEdge> edges;
  std::uint32_t repeats = 1;  // messages of each edge, of all members
  std::uint64_t token = 0;    // handed back when the last messages that it sends and awaits have arrived
};
struct RingPlace {
  std::uint32_t ring = 0;
  std::uint32_t member = 0;
};

// The messages of a collective's only step, as of an all-to-all by grouped sends and receives: those of a member leave
// when it starts, and it ends when all that it sends and awaits have arrived.
struct Exchange {
  RingShape shape;
  std::vector<RingEdge> edges;  // by edge of the shape: one message each, of size number `first`
};
struct ExchangePlace {
  std::uint32_t exchange = 0;
  std::uint32_t member = 0;
};

class TransferListener {
 public:
  virtual ~TransferListener() = default;
  virtual void on_arrived(std::uint64_t token) = 0;
  // The identity of the transfer of this token, independent of when it was started: transfers of the same role in two
  // training steps have the same identity. For NetworkModel::state_digest.
  [[nodiscard]] virtual std::uint64_t identity(std::uint64_t token) const { return token; }
};

// The traffic of a link since the start of the run.
struct LinkUsage {
  double bytes = 0.0;
  Duration busy;  // time with at least one flow on it
};

// What a call adds to one of its links.
struct UsedLink {
  LinkId link;
  LinkUsage usage;
};

// A transfer between hosts that made no progress for longer than its NICs retry.
struct GivenUp {
  RankId from;
  RankId to;
  std::optional<LinkId> link;  // on its path, that carries nothing; by link id of the router the model was made with
  TimePoint since;             // when it stalled
};

class NetworkModel {
 public:
  virtual ~NetworkModel() = default;

  // Starts moving bytes now. The listener is notified at the instant the last byte arrives, never within start().
  virtual void start(const Transfer& transfer, TransferListener& listener) = 0;

  // The same for messages that move together; only for models that share links.
  virtual void start_coupled(const CoupledTransfer&, TransferListener&) {
    CHECK(false, "this network model does not couple messages");
  }

  // How long a transfer takes, whenever it starts and whatever else is in flight; empty: that depends on the others.
  [[nodiscard]] virtual std::optional<Duration> time_alone(const Transfer&) { return std::nullopt; }

  // The messages of a ring of this shape, which wait for each other within the network; the shape is unchanged as long
  // as the network exists. Each member is started once; when all have been notified, the ring's number may be that of
  // another one. Empty: the model does not do it.
  [[nodiscard]] virtual std::optional<std::uint32_t> open_ring(const RingShape&) { return std::nullopt; }
  virtual void start_member(RingPlace, const RingMember&, TransferListener&) {
    CHECK(false, "this network model has no rings");
  }
  // How many messages have arrived over an edge (by its number in the shape) of an open ring; 0 before it is started.
  [[nodiscard]] virtual std::uint32_t arrived_in(std::uint32_t /*ring*/, std::uint32_t /*edge*/) const { return 0; }

  // The same for an exchange, which is unchanged as long as the network exists. Whether the model does it depends on
  // nothing else.
  [[nodiscard]] virtual std::optional<std::uint32_t> open_exchange(const Exchange&) { return std::nullopt; }
  virtual void start_in_exchange(ExchangePlace, std::uint64_t /*token*/, TransferListener&) {
    CHECK(false, "this network model has no exchanges");
  }
  // Whether the message over an edge of an open exchange has arrived.
  [[nodiscard]] virtual bool has_arrived(std::uint32_t /*exchange*/, std::uint32_t /*edge*/) const { return false; }

  // --- the network changes while bytes are in flight; only for models whose table entry declares it ---
  // From now on a link carries this much; nothing when it is 0. By link id of the router the model was made with.
  virtual void set_capacity(LinkId, Bandwidth) { CHECK(false, "this network model does not simulate faults"); }
  // The router's paths have changed: the remaining bytes of each transfer continue on its new path.
  virtual void reroute() { CHECK(false, "this network model does not simulate faults"); }

  // The first transfer that was given up, which ended the run; empty: none.
  [[nodiscard]] virtual std::optional<GivenUp> given_up() const { return std::nullopt; }

  // Reserves links for transfers that are left out because their timeline is known: no other transfer may use them from
  // now until then. False: another one already does, or the model cannot check; then none of them is reserved.
  [[nodiscard]] virtual bool set_aside(std::span<const LinkId> /*links*/, TimePoint /*until*/) { return false; }
  // Their reservation ends then, no later than it was made for.
  virtual void end_aside(std::span<const LinkId> links, TimePoint /*until*/) {
    CHECK(links.empty(), "this network model reserves no links");
  }
  // Whether another transfer used a link while it was reserved.
  [[nodiscard]] virtual bool trespassed() const { return false; }
  // The same of one of these links, since then.
  [[nodiscard]] virtual bool trespassed_on(std::span<const LinkId> /*links*/, TimePoint /*since*/) const {
    return trespassed();
  }

  // A hash of all state that decides the future of what is in flight, relative to the current time: equal digests at
  // two moments mean equal futures. Empty when the model cannot compute it.
  [[nodiscard]] virtual std::optional<std::uint64_t> state_digest() const { return std::nullopt; }

  // By link id of the router the model was made with, up to date at the engine's current time.
  [[nodiscard]] virtual std::vector<LinkUsage> usage() const = 0;

  // Named counters for the report ("flows", "solves", "flows re-solved").
  struct Counter {
    std::string name;
    std::uint64_t value = 0;
  };
  [[nodiscard]] virtual std::vector<Counter> counters() const = 0;
};

}  // namespace ringwright
