// Simulates messages between two ranks: a send moves bytes as soon as it starts (eager), a receive ends when the
// matching message has arrived. The n-th receive of a channel matches the peer's n-th send there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/ports/call_overhead.h"
#include "core/ports/network_model.h"
#include "core/run/job/collective_runner.h"
#include "core/run/job/played_job.h"

namespace ringwright {

class MessagePlayer final : public TransferListener, public MessageEnds {
 public:
  // `carrier`: moves messages to peers; null: the network alone, as one flow each, which leaves after the time of
  // `overhead` (null: at once).
  MessagePlayer(PlayedJob& job, MessageCarrier* carrier, const CallOverhead* overhead);

  struct Request {
    ClassId rank_class;
    DimensionId dimension;
    std::uint32_t spec = 0;      // index into TaskGraph::messages
    std::uint64_t sequence = 0;  // the n-th send (receive) of this peer and channel
    int iteration = 0;           // that the task belongs to
    std::uint32_t task = 0;
    TimePoint not_before;  // a receive does not end earlier, even if its message has arrived
  };
  void send(const Request& request);
  // True: the message has already arrived and the listener will not be notified.
  [[nodiscard]] bool receive(Request request);
  // Whether receive() would return true.
  [[nodiscard]] bool has_arrived(const Request& receive) const;
  // Receives of the class that have begun and wait for their messages; their `sequence` is that of the message. A
  // visit may give them other tasks and sequences, in the same order.
  template <class Visit>
  void for_each_waiting(ClassId receiver, Visit&& visit) {
    for (PendingReceives& queue : queues_[receiver.index()]) {
      for (Request& receive : queue.left()) visit(receive);
    }
  }
  template <class Holds>
  [[nodiscard]] bool all_of_waiting(ClassId receiver, Holds&& holds) const {
    return std::ranges::all_of(queues_[receiver.index()], [&](const PendingReceives& queue) {
      return std::ranges::all_of(queue.left(), holds);
    });
  }
  void on_arrived(std::uint64_t token) override;
  void on_sent(std::uint64_t token) override;
  void on_received(std::uint64_t token) override;
  [[nodiscard]] std::uint64_t identity(std::uint64_t token) const override;
  // A hash of the messages that have not left yet.
  [[nodiscard]] std::uint64_t state_digest() const;

  // "message 4 on channel 0 from rank 17 (never sent)": what a started receive of this task waits for.
  [[nodiscard]] std::string waits_for(ClassId rank_class, std::uint32_t task) const;

 private:
  // Messages that one class has sent to one peer on one channel.
  struct SentMessages {
    DimensionId dimension;
    int peer;  // as place_sent_to()
    std::uint8_t channel;
    std::uint64_t started = 0;
    SequenceSet arrived;
  };

  [[nodiscard]] int peer_of(const Request& request) const;
  // The common name of a channel at its two ends, also where one class stands for both: the receiver's index in the
  // group, or below 0 the distance to it.
  [[nodiscard]] int place_sent_to(const Request& send) const;
  [[nodiscard]] int place_received_at(const Request& receive) const;
  [[nodiscard]] ClassId peer_class(const Request& request) const;
  SentMessages& sent_messages(ClassId sender, DimensionId dimension, int peer, std::uint8_t channel);
  [[nodiscard]] const SentMessages* find_sent(ClassId sender, DimensionId dimension, int peer,
                                            std::uint8_t channel) const;
  [[nodiscard]] const SentMessages* sent_towards(const Request& receive) const;

  // Receives of one class that wait for a peer's messages on one channel, hundreds of them; by sequence.
  struct PendingReceives {
    DimensionId dimension;
    int peer;
    int place;  // as place_received_at(): one class may send from several places
    std::uint8_t channel;
    ClassId sender;
    std::vector<Request> waiting;
    std::size_t taken = 0;  // the first ones, which no longer wait: most messages arrive in order

    [[nodiscard]] std::span<Request> left() { return std::span(waiting).subspan(taken); }
    [[nodiscard]] std::span<const Request> left() const { return std::span(waiting).subspan(taken); }
    void add(const Request& receive);
    [[nodiscard]] std::optional<Request> take(std::uint64_t sequence);
  };
  PendingReceives& queue_of(const Request& receive);
  // Removes a receive of this class that waits for the message, if there is one.
  std::optional<Request> take_waiting(ClassId receiver, const Request& sent);

  // A message in flight; its slot is free again when both ends have been notified.
  struct InFlight {
    Request request;
    int ends_left = 2;
    bool has_left = true;
    TimePoint leaves;
  };
  // The cost of messages of one kind to a class in addition to their bytes.
  struct Cost {
    std::uint32_t spec;
    DimensionId dimension;
    Duration overhead;
  };

  std::uint32_t free_slot(const Request& request);
  [[nodiscard]] MessageCall call_of(const Request& request) const;
  void carry(std::uint32_t slot);
  void put_on_wire(std::uint32_t slot);
  [[nodiscard]] Duration overhead_of(const Request& request);
  void end(std::uint64_t token);

  PlayedJob& job_;
  MessageCarrier* carrier_;
  const CallOverhead* overhead_;
  std::vector<std::vector<Cost>> costs_;        // by class of the sender
  std::vector<std::vector<SentMessages>> channels_;  // by class of the sender
  std::vector<std::vector<PendingReceives>> queues_;        // by class of the receiver
  std::vector<InFlight> in_flight_;             // slots, reused
  std::vector<std::uint32_t> free_;
};

}  // namespace ringwright
