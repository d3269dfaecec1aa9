// The port for collectives as kernels run them: thread blocks on channels, each working through primitives that
// receive, reduce, store and send one slice. A channel algorithm is a pure function of (call, plan, member, thread
// block, index); it knows no clock and holds no state, so it can be proved without one.
//
// A thread block has numbered ports. What it sends through one port goes to one peer, in order, through a queue of
// 8 slots; the peer reads the queue through a receiving port of one of its own thread blocks. A primitive runs when the
// next message has come on every port that it receives from and there is room behind every port that it sends through.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/plan/collective_call.h"
#include "core/plan/collective_plan.h"
#include "core/ports/router.h"

namespace ringwright {

// Members are named by their index in the group. kUpToSwitch: the message ends in the switch shared with the peer,
// where what several members send to that peer is added up; the peer fetches it with kDownFromSwitch. Messages of one
// primitive through several ports with kUpToSwitch are one multicast: their bytes leave once.
//
// `sum` >= 0: switches of the network add (SHARP). All ports of a call with one number carry the contributions to one
// sum, message by message; who reads from one of them gets the sum of all. Every port addresses the next host's member,
// around a ring of hosts: so each NIC carries a contribution up and a result down, whatever the number of hosts.
inline constexpr int kNoSum = -1;

struct SendPort {
  int peer = 0;
  RouteKind route_kind = RouteKind::kWhole;
  int sum = kNoSum;
  MessageNics nics = {};  // of messages that leave the host
};

// A switch takes a member's own contribution as all others': such a port's peer is the member itself. For the way of
// its bytes any other member at that switch serves.
[[nodiscard]] int switch_partner(const GroupLayout& layout, int member, int peer);

// How a message between two members travels under the plan: by the peer's rail where both are on different hosts and
// rails and a member beside the sender sits on the peer's.
[[nodiscard]] RouteKind message_route_kind(const GroupLayout& layout, const CollectivePlan& plan, int from, int to);

// Reads what `peer`'s thread block `block` sends through its port `port`, which is addressed to us. Through several
// ports with kDownFromSwitch one primitive fetches one sum.
struct ReceivePort {
  int peer = 0;
  int block = 0;
  int port = 0;
  RouteKind route_kind = RouteKind::kWhole;
  int sum = kNoSum;  // as the writer's port says
};

struct ThreadBlock {
  int channel = 0;
  // Channels that are alike (same peers, same bytes) are described once; this many stand side by side.
  int copies = 1;
  int slots_per_message = 1;   // of the 8; a slice of two slots leaves room for four
  double thread_share = 1.0;   // of the channel's threads, where warps share a channel's work
  std::int64_t primitives = 0;
  std::vector<ReceivePort> receives;
  std::vector<SendPort> sends;

  void clear() {
    *this = {.receives = std::move(receives), .sends = std::move(sends)};
    receives.clear();
    sends.clear();
  }
};

// A run of ports.
struct PortRange {
  int first = 0;
  int count = 0;
};

// Another thread block of the same member that must have ended its primitive with this index; block < 0: none.
struct PrimitiveDependency {
  int block = -1;
  std::int64_t primitive = 0;
};

// What is sent or stored is the sum of what was received and, when `reads`, of the member's own data.
struct Primitive {
  Bytes size;        // of the message, in each of the block's copies; 0 is a message too
  PortRange receives;
  PortRange sends;
  bool reads = false;
  bool stores = false;
  bool continues = false;  // the one before goes on with other ports: no fixed cost of its own
  bool notifies = false;  // other thread blocks of the member may depend on it
  std::vector<PrimitiveDependency> after;

  // Something is added up by the thread block itself (not in a switch).
  bool adds = false;

  // One-sided work, beside the ports: members of the host into whose memory the block stores `size` bytes, and from
  // whose memory it loads them. `tells`: messages through the ports carry nothing, they only tell; then the block loads
  // and stores `operands` and `results` times.
  std::vector<int> stores_to;
  std::vector<int> loads_from;
  bool tells = false;
  int operands = 0;
  int results = 0;

  void clear() {
    *this = {.after = std::move(after), .stores_to = std::move(stores_to), .loads_from = std::move(loads_from)};
    after.clear();
    stores_to.clear();
    loads_from.clear();
  }
};

// For the proof: cells of the member's memory, in the order in which their contents travel in the message. What is
// received is cell by cell the same length; an empty list where the primitive does not read (store).
struct PrimitiveContents {
  std::vector<int> reads;
  std::vector<int> stores;

  void clear() { reads.clear(); stores.clear(); }
};

class ChannelAlgorithm {
 public:
  virtual ~ChannelAlgorithm() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;  // "ring", as in CollectivePlan
  [[nodiscard]] virtual std::string_view help() const = 0;  // one sentence with the source
  [[nodiscard]] virtual bool supports(const CollectiveCall& call, const CollectivePlan& plan) const = 0;

  // Of every member the same number; some may be empty. 0 for groups of one.
  [[nodiscard]] virtual int blocks(const CollectiveCall& call, const CollectivePlan& plan) const = 0;
  // Replaces `out`.
  virtual void block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                     ThreadBlock& out) const = 0;
  // Replaces `out`.
  virtual void primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                         std::int64_t index, Primitive& out) const = 0;

  // --- for folding ---
  // Replaces `out`: by thread block of the member, the part that it plays, a permutation of the blocks' numbers. Blocks
  // of two members with equal parts may be alike though their numbers differ: where every kind of channel begins with
  // another GPU, what one GPU does on the first kind the next one does on the second. Any permutation is right; a good
  // one folds more.
  virtual void parts(const CollectiveCall& call, const CollectivePlan& plan, int member, std::vector<int>& out) const;
  // Two members whose thread blocks of this number have equal shapes run equal primitives through equal ports, to
  // different peers perhaps. 0: not known, every primitive is looked at.
  [[nodiscard]] virtual std::uint64_t shape(const CollectiveCall&, const CollectivePlan&, int /*member*/,
                                            int /*block*/) const {
    return 0;
  }

  // --- for the proof ---
  // Pieces of the buffer as in CollectiveAlgorithm::pieces; an all-to-all may have k for each pair, numbered
  // (s * size + d) * k and on. Cells are places in a member's memory; as long as the
  // buffer is worked on in place, a piece's cell is its number.
  [[nodiscard]] virtual int pieces(const CollectiveCall& call, const CollectivePlan& plan) const = 0;
  [[nodiscard]] virtual Bytes piece_size(const CollectiveCall& call, const CollectivePlan& plan, int piece) const = 0;
  virtual void contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                        std::int64_t index, PrimitiveContents& out) const = 0;
  [[nodiscard]] virtual int cells(const CollectiveCall& call, const CollectivePlan& plan) const {
    return pieces(call, plan);
  }
  // Where a member has a piece at the beginning, and in the end.
  [[nodiscard]] virtual int input_cell(const CollectiveCall&, const CollectivePlan&, int piece) const { return piece; }
  [[nodiscard]] virtual int output_cell(const CollectiveCall&, const CollectivePlan&, int piece) const { return piece; }
  [[nodiscard]] virtual Bytes cell_size(const CollectiveCall& call, const CollectivePlan& plan, int cell) const {
    return piece_size(call, plan, cell);
  }
};

// Who decides how NCCL would carry out a call.
class ChannelTuner {
 public:
  virtual ~ChannelTuner() = default;
  // Never fails for a call the configuration allowed; the answer depends on the call alone.
  [[nodiscard]] virtual CollectivePlan plan(const CollectiveCall& call) const = 0;
  // Of a send and the receive that meets it.
  [[nodiscard]] virtual CollectivePlan plan_message(const MessageCall& call) const = 0;
};

// A plan and who can play it.
struct ChannelChoice {
  const ChannelAlgorithm* algorithm = nullptr;
  CollectivePlan plan;
};

class ChannelChooser {
 public:
  virtual ~ChannelChooser() = default;
  [[nodiscard]] virtual ChannelChoice choose(const CollectiveCall& call) const = 0;
  // The algorithm plays a broadcast from member 0 to member 1 of a group of two.
  [[nodiscard]] virtual ChannelChoice choose_message(const MessageCall& call) const = 0;
};

}  // namespace ringwright
