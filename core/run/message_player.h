// Plays messages between two ranks: a send moves bytes as soon as it starts (eager), a receive ends when the matching
// message has arrived. The n-th receive of a channel takes the peer's n-th send there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ports/network_model.h"
#include "core/run/played_job.h"

namespace ringwright {

class MessagePlayer final : public TransferListener {
 public:
  explicit MessagePlayer(PlayedJob& job);

  struct Request {
    ClassId rank_class;
    DimensionId dimension;
    std::uint32_t spec = 0;      // index into TaskGraph::messages
    std::uint64_t sequence = 0;  // the n-th send (receive) of this peer and channel
    int iteration = 0;           // that the task belongs to
    std::uint32_t task = 0;
  };
  void send(const Request& request);
  // True: the message is there already and the listener will not be told.
  [[nodiscard]] bool receive(const Request& request);
  void on_arrived(std::uint64_t token) override;
  [[nodiscard]] std::uint64_t identity(std::uint64_t token) const override;

  // "message 4 on channel 0 from rank 17 (never sent)": what a started receive of this task waits for.
  [[nodiscard]] std::string waits_for(ClassId rank_class, std::uint32_t task) const;

 private:
  // What one class has sent to one peer on one channel.
  struct Channel {
    DimensionId dimension;
    int peer;
    std::uint8_t channel;
    std::uint64_t started = 0;
    SequenceSet arrived;
  };

  [[nodiscard]] ClassId peer_class(const Request& request) const;
  Channel& channel_of(ClassId sender, DimensionId dimension, int peer, std::uint8_t channel);
  [[nodiscard]] const Channel* find_channel(ClassId sender, DimensionId dimension, int peer, std::uint8_t channel) const;
  [[nodiscard]] const Channel* channel_towards(const Request& receive) const;

  PlayedJob& job_;
  std::vector<std::vector<Channel>> channels_;          // by class of the sender
  std::vector<std::vector<Request>> waiting_;           // by class: receives that wait
  std::vector<Request> in_flight_;                      // slots, reused
  std::vector<std::uint32_t> free_;
};

}  // namespace ringwright
