// The state of one collective call in flight: the thread blocks of one rank of each class, and the queues between them.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/ids.h"
#include "core/ports/channel_algorithm.h"
#include "core/run/job/collective_runner.h"
#include "core/run/job/played_job.h"

namespace ringwright {

// The messages that one thread block sends through one port. Message numbers count up; each stage counts those that
// have passed it, so "has a message" and "has a free slot" are comparisons.
struct ChunkQueue {
  static constexpr std::uint32_t kNoBlock = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t writer = kNoBlock;  // index into ChunkPlay::blocks
  std::uint32_t reader = kNoBlock;
  RankId from;
  RankId to;
  RouteKind route_kind = RouteKind::kWhole;
  MessageNics nics;
  bool network = false;          // leaves the host: a proxy sends it on
  std::uint32_t sum = kNoBlock;  // index into ChunkPlay::sums: the network's switches add it to others
  std::uint64_t room = kSlots;   // messages

  std::uint64_t written = 0;   // begun by the writer
  std::uint64_t freed = 0;     // the writer may use their slots again
  std::uint64_t readable = 0;  // visible to the reader
  std::uint64_t begun = 0;     // up to here at least the first lines are visible to the reader
  std::uint64_t read = 0;      // taken by the reader
  // Network only:
  std::uint64_t filled = 0;        // in the send buffer, not yet handled by the proxy
  std::uint64_t posted = 0;        // handled by the proxy
  std::uint64_t departed = 0;      // on the wire or beyond
  std::uint64_t arrived = 0;       // all up to here have arrived
  std::uint64_t credits = 0;       // taken by the reader, as known to the sender
  bool on_nic = false;             // one of them is leaving its NIC
  std::uint64_t early = 0;         // bit m % 64: message m has arrived before one ahead of it
  std::array<Bytes, kSlots> size;  // of message m, at m % kSlots

  [[nodiscard]] bool has_room() const { return written - freed < room; }
  [[nodiscard]] bool has_message() const { return readable > read || begun > read; }
  [[nodiscard]] bool may_depart() const { return departed < posted && departed - credits < room; }
};

// A sum in network switches: over messages of several queues, each of which has a reader of the sum.
struct ChunkSum {
  std::vector<std::uint32_t> queues;
  std::uint64_t done = 0;                       // messages whose sum is complete
  std::array<std::uint32_t, kSlots> arrived{};  // contributions to message m, at m % kSlots
  TimePoint busy_until;                         // the switch adds at its own rate
};

struct ChunkBlock {
  std::uint32_t member = 0;  // index into ChunkPlay::members
  int number = 0;            // thread block of its rank
  int role = 0;              // equal for blocks of different members that do the same
  ThreadBlock block;
  std::vector<std::uint32_t> sources;  // by receiving port: its queue
  std::uint32_t first_queue = 0;       // by sending port: consecutive queues
  std::int64_t done = 0;               // primitives
  std::int64_t left_out = 0;           // further ones before the next one, not among `block.primitives` any more
  Primitive now;                       // the next one, once it is loaded
  bool loaded = false;
  bool working = false;
  bool ahead = false;    // done with all but the last lines, which have not arrived yet
  Bytes held;            // of these, while the current primitive has not stored them
  int flows = 0;         // of the current primitive, in flight
  TimePoint not_before;  // the current primitive's own work lasts until then
  FineTime lag;          // of the rank's thread blocks when the current primitive's bytes began to move
};

// A call in a group of one layout, and how it runs there.
struct LaidOutCall {
  CollectiveCall call;
  ChannelChoice choice;
};

// A class of ranks in the call.
struct ChunkMember {
  // A message for the NIC: of which queue, and its number.
  struct OnNic {
    std::uint32_t queue = 0;
    std::uint64_t message = 0;
  };
  // Its messages on one of its host's NICs.
  struct Nic {
    std::int16_t index = -1;     // as MessageNics::out
    int streaming = 0;           // messages that it sends
    std::vector<OnNic> waiting;  // in order
  };
  CollectiveRequest request;
  ClassId rank_class;
  int index = 0;               // of the representative in its group
  std::uint32_t laid_out = 0;  // index into ChunkPlay::calls: the call in that group
  std::uint32_t first_block = 0;
  int blocks_left = 0;
  TimePoint proxy_free;   // its proxy thread is busy until then
  int storing = 0;        // without GPUDirect: messages that its thread blocks are storing into host memory
  int loading = 0;        // and loading from there
  std::vector<Nic> nics;  // that it has sent to
  bool joined = false;
  bool running = false;  // its kernel has been launched
  bool booked = false;   // the ledger counts it: all members have joined
};

// The member's part of the NIC by which messages of the queue leave.
[[nodiscard]] ChunkMember::Nic& nic_of(ChunkMember& member, const ChunkQueue& queue);

struct ChunkPlay {
  DimensionId dimension;
  std::uint64_t sequence = 0;
  // By distinct layout of the groups of the members' representatives. Groups on other GPUs of their hosts may differ in
  // ring orders, NICs and PXN; all else of the plans is equal, or their ranks would not be of equal classes.
  std::vector<LaidOutCall> calls;
  std::uint32_t label = 0;           // of the first channel's messages
  MessageEnds* ends = nullptr;       // of a message: its members are sender and receiver
  std::uint64_t token = 0;           // of a message
  std::vector<ChunkMember> members;  // by class
  std::vector<ChunkBlock> blocks;
  std::vector<ChunkQueue> queues;
  std::vector<ChunkSum> sums;
  std::size_t joined = 0;
  std::size_t members_left = 0;
  std::uint64_t events = 0;  // scheduled, or flows in flight, that refer to this call

  [[nodiscard]] bool over() const { return members_left == 0 && events == 0; }
  // For what plans of all members have in common.
  [[nodiscard]] const CollectivePlan& plan() const { return calls.front().choice.plan; }
  [[nodiscard]] const LaidOutCall& call_of(const ChunkMember& member) const { return calls[member.laid_out]; }
};

// Makes calls, blocks and queues for the classes of one group.
void lay_out(const PlayedJob& job, const CollectiveSpec& spec, std::span<const ClassId> classes,
             const ChannelChooser& chooser, ChunkPlay& play);
// Makes blocks and queues for the two ends of a message, whose only call is known.
void lay_out_message(const PlayedJob& job, const MessageOrder& order, ChunkPlay& play);

}  // namespace ringwright
