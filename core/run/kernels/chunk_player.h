// Simulates collectives as kernels run them: thread blocks on channels execute primitives, over queues of 8 slots.
//
// A primitive begins when its incoming messages are in their slots and there are free slots for its outgoing ones. It
// occupies its thread block for a fixed cost, and then for its bytes at the channel's rate, at least until they have
// crossed the links of the host, where a send is a store by the GPU. The peer observes a message one hop (flag) later;
// the slot is free again one hop after the peer has read it. With LL and LL128, whose flags travel with the data, the
// peer begins with the first lines of a long message, and ends one pass of its threads after the last lines have
// arrived. Between hosts a proxy (chunk_proxy.cc) sends each message when the receiver has granted a slot; the message
// crosses the network, and is read after a flush or a poll. (NCCL's primitives: src/device/prims_{simple,ll,ll128}.h,
// src/transport/net.cc.)
//
// One rank of each class is simulated, and one of identical channels.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/plan/channel_costs.h"
#include "core/ports/channel_algorithm.h"
#include "core/ports/network_model.h"
#include "core/run/job/collective_runner.h"
#include "core/run/job/group_roster.h"
#include "core/run/job/played_job.h"
#include "core/run/kernels/chunk_play.h"
#include "core/run/kernels/repeated_rounds.h"

namespace ringwright {

// Inputs of the player besides the job.
struct ChannelInputs {
  const ChannelChooser& chooser;
  const ChannelCosts& costs;
  // Of a run that is one call, of which only the time matters: primitives after a period (RepeatedRounds) are left out,
  // and their time is added here. Null: all are simulated.
  Duration* left_out = nullptr;
};

class ChunkPlayer final : public CollectiveRunner,
                          public MessageCarrier,
                          public TransferListener,
                          public CopyBlockListener {
 public:
  ChunkPlayer(PlayedJob& job, const ChannelInputs& inputs);

  void start(const CollectiveRequest& request) override;
  [[nodiscard]] MessageCarrier* carrier() override { return this; }
  void carry(const MessageOrder& order, MessageEnds& ends) override;
  void on_arrived(std::uint64_t token) override;
  void on_caught_up(std::uint64_t token) override;
  [[nodiscard]] std::uint64_t identity(std::uint64_t token) const override { return token; }

  // While calls are in flight, no two moments are equal.
  [[nodiscard]] std::uint64_t state_digest() const override;
  [[nodiscard]] std::string waits_for(ClassId rank_class, std::uint32_t task) const override;

 private:
  // A block of a running call, or a queue of it.
  struct PlayItem {
    std::uint32_t play = 0;
    std::uint32_t index = 0;
  };
  // Consecutive ports whose messages are handled together.
  struct Ports {
    std::uint16_t first = 0;
    std::uint16_t count = 0;
  };
  // Notifications from the network: the end of a primitive's flow, or of one of its last lines that it does not wait
  // for; or message `message` of a queue: its data; before them the header and the request of a rendezvous message; and
  // its last byte leaving a NIC that sends one after another.
  enum class Arrival : std::uint8_t { kFlow, kLateLines, kData, kHeader, kRequest, kSent };
  static constexpr std::uint64_t token_of(PlayItem part, Arrival what, std::uint64_t message = 0) {
    return static_cast<std::uint64_t>(what) << 61U | std::uint64_t{part.play} << 40U | std::uint64_t{part.index} << 8U |
           (message & 0xFFU);
  }
  static constexpr Arrival arrival_of(std::uint64_t token) { return static_cast<Arrival>(token >> 61U); }
  static constexpr std::uint64_t message_of(std::uint64_t token) { return token & 0xFFU; }
  static constexpr PlayItem part_of(std::uint64_t token) {
    return {.play = static_cast<std::uint32_t>(token >> 40U & 0x1FFFFFU),
            .index = static_cast<std::uint32_t>(token >> 8U)};
  }
  using Key = std::tuple<ClassId, DimensionId, std::uint64_t>;  // first class of the group, dimension, sequence

  std::uint32_t free_play();
  std::uint32_t find_or_make_play(const CollectiveRequest& request);
  void join(std::uint32_t play, ChunkMember& member);
  void start_after(Duration launch_time, PlayItem member);
  void launch(PlayItem member);
  static void report_end(const ChunkPlay& play, const ChunkMember& member);
  void finish(std::uint32_t play, ChunkMember& member);
  void retire_if_over(std::uint32_t play);

  [[nodiscard]] bool may_begin(const ChunkPlay& play, const ChunkBlock& block) const;
  void try_begin(PlayItem part);
  void begin(PlayItem part);
  void move(PlayItem part);
  [[nodiscard]] Duration pass_host_memory(PlayItem part);
  int start_stores(PlayItem part, Bytes size, Arrival arrival);
  int start_fetches(PlayItem part);
  int start_one_sided(PlayItem part);
  void announce(PlayItem part);
  void store_last(PlayItem part);
  [[nodiscard]] bool has_all(const ChunkPlay& play, const ChunkBlock& block) const;
  void end_flow(PlayItem part);
  void catch_up(PlayItem part);
  void end(PlayItem part);
  void pass_on(PlayItem part, const Primitive& primitive);
  void notify_dependents(PlayItem part);
  void leave_out_repeated(PlayItem ended);
  void reach_peers(PlayItem part, Ports sends, Ports receives);
  void fill(PlayItem queue);
  // How messages of identical channels arrive at a proxy.
  enum class Coming : std::uint8_t { kAtOnce, kInTurn };
  // What a proxy thread does: sends a message, requests the data of one whose header has come, takes one that arrived.
  enum class ProxyTask : std::uint8_t { kSend, kRequest, kReceive };
  struct ProxyRequest {
    PlayItem queue;
    std::uint32_t block = 0;    // of the proxy's own rank
    ProxyTask task = ProxyTask::kSend;
    std::uint64_t message = 0;  // its number in the queue
    Duration each;              // time of each of the `copies` messages
    int copies = 1;
    Coming coming = Coming::kInTurn;
  };
  void ask_proxy(const ProxyRequest& request);
  void serve_proxies();
  void serve(const ProxyRequest& request);
  [[nodiscard]] Duration wait_for_proxy(ChunkMember& member, const ProxyRequest& request) const;
  void post(PlayItem queue);
  void credit(PlayItem queue);
  void depart(PlayItem queue);
  [[nodiscard]] bool is_fetched(const ChunkPlay& play, const ChunkQueue& queue, std::uint64_t message) const;
  [[nodiscard]] Duration time_to_receive(const ChunkPlay& play, Bytes size) const;
  void put_on_wire(PlayItem queue, std::uint64_t message);
  void notify(PlayItem queue, std::uint64_t message, Arrival what);
  void ask_for(PlayItem queue, std::uint64_t message);
  void stream(PlayItem queue, std::uint64_t message);
  void leave_nic(PlayItem queue, std::uint64_t message);
  void arrive_over_network(PlayItem queue, std::uint64_t message);
  void take_arrived(PlayItem queue);
  void add_up(std::uint32_t play, ChunkSum& sum, std::uint64_t message);
  void make_readable(PlayItem queue);
  void send(PlayItem part, const Transfer& transfer);

  // Events are counted, so that a running call lives until the last of them.
  template <class Callable>
  void after(Duration delay, std::uint32_t play, Callable callable) {
    ++plays_[play].events;
    job_.engine.after(delay, [this, play, callable] {
      callable(*this);
      --plays_[play].events;
      retire_if_over(play);
    });
  }

  PlayedJob& job_;
  ChannelInputs inputs_;
  GroupRoster roster_;
  std::deque<ChunkPlay> plays_;  // slots, reused; a deque so that references stay
  std::vector<std::uint32_t> free_plays_;
  std::map<Key, std::uint32_t> active_;
  GroupLayout pair_inside_ = make_block_layout(2, 2);  // of messages within a host
  GroupLayout pair_between_ = make_block_layout(2, 1);
  std::size_t messages_ = 0;  // in flight
  std::vector<ProxyRequest> proxy_requests_;  // of this instant
  std::vector<ProxyRequest> served_;          // scratch of serve_proxies()
  std::optional<RepeatedRounds> rounds_;      // of a call of which some may be left out
};

}  // namespace ringwright
