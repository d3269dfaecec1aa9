// The interface through which the executor simulates collectives; each fidelity level implements it (steps over a
// network, a formula, ...).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/plan/collective_call.h"
#include "core/ports/network_model.h"

namespace ringwright {

// One class's call of a collective.
struct CollectiveRequest {
  ClassId rank_class;
  DimensionId dimension;
  std::uint32_t spec = 0;      // index into TaskGraph::collectives
  std::uint64_t sequence = 0;  // the n-th collective of this dimension
  int iteration = 0;           // that the task belongs to
  std::uint32_t task = 0;      // handed to the listener at the end
};

// One message that kernels of both ends move. The receiver's kernel runs when the sender's does: frameworks launch a
// send together with the matching receive.
struct MessageOrder {
  ClassId sender;
  ClassId receiver;
  RankId to;
  MessageCall call;
  std::uint32_t label = 0;  // as in RouteQuery
  std::uint64_t token = 0;  // handed back
};

class MessageEnds {
 public:
  virtual ~MessageEnds() = default;
  virtual void on_sent(std::uint64_t token) = 0;  // the sender's buffer is free
  virtual void on_received(std::uint64_t token) = 0;
  // As TransferListener::identity.
  [[nodiscard]] virtual std::uint64_t identity(std::uint64_t token) const = 0;
};

class MessageCarrier {
 public:
  virtual ~MessageCarrier() = default;
  // Never notifies within carry().
  virtual void carry(const MessageOrder& order, MessageEnds& ends) = 0;
};

class CollectiveRunner {
 public:
  virtual ~CollectiveRunner() = default;
  // The job's CommunicationListener is notified when the call has ended for the class, possibly within start().
  virtual void start(const CollectiveRequest& request) = 0;
  // The carrier of messages at this fidelity level; null: the network alone.
  [[nodiscard]] virtual MessageCarrier* carrier() { return nullptr; }
  // Adds to the job's totals (PlayedJob::sent, messages) what calls have sent and is not in them yet; before they are
  // read.
  virtual void book_sent() {}
  // A hash of the state of all started calls, relative to the job's reference iteration.
  [[nodiscard]] virtual std::uint64_t state_digest() const = 0;
  // Whether calls wait for members, and nothing of them is simulated until the last one has come.
  [[nodiscard]] virtual bool awaits_members() const { return false; }
  // Whether the run is invalid: calls of known times were not alone on their links.
  [[nodiscard]] virtual bool is_disturbed() const { return false; }
  // Adds the link traffic of calls of known times, which the network model does not record.
  virtual void add_usage(std::vector<LinkUsage>& /*usage*/) const {}
  // "call 12 (all_gather, ring) in step 3 of 14 for ranks 4, 5": what a started call of this task waits for.
  [[nodiscard]] virtual std::string waits_for(ClassId rank_class, std::uint32_t task) const = 0;
};

}  // namespace ringwright
