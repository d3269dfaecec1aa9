// The port for collectives as kernels run them: thread blocks on channels, each working through primitives that
// receive, reduce, store and send one slice. A channel algorithm is a pure function of (call, plan, member, thread
// block, index); it has no clock and no state, so it can be proved without a simulation.
//
// A thread block has numbered ports. Data sent through one port goes to one peer, in order, through a queue of 8 slots;
// the peer reads the queue through a receiving port of one of its own thread blocks. A primitive runs when the next
// message has arrived on every port that it receives from and every port that it sends through has a free slot.
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
// which adds what several members send to that peer; the peer fetches the sum with kDownFromSwitch. Messages of one
// primitive through several ports with kUpToSwitch are one multicast: their bytes are sent once.
//
// `sum` >= 0: switches of the network add (SHARP). All ports of a call with one number carry contributions to one sum,
// message by message; a reader of any of them gets the sum of all. Every port addresses the next host's member in a
// ring of hosts: so each NIC carries a contribution up and a result down, whatever the number of hosts.
inline constexpr int kNoSum = -1;

struct SendPort {
  int peer = 0;
  RouteKind route_kind = RouteKind::kWhole;
  int sum = kNoSum;
  MessageNics nics = {};  // of messages that leave the host
};

// A switch treats a member's own contribution like all others: such a port's peer is the member itself. For the path of
// its bytes any other member at that switch works.
[[nodiscard]] int switch_partner(const GroupLayout& layout, int member, int peer);

// The route kind of a message between two members under the plan: PXN where they are on different hosts and rails and
// another member on the sender's host is on the peer's rail.
[[nodiscard]] RouteKind message_route_kind(const GroupLayout& layout, const CollectivePlan& plan, int from, int to);

// Reads what `peer`'s thread block `block` sends through its port `port`, which is addressed to this member. Through
// several ports with kDownFromSwitch one primitive fetches one sum.
struct ReceivePort {
  int peer = 0;
  int block = 0;
  int port = 0;
  RouteKind route_kind = RouteKind::kWhole;
  int sum = kNoSum;  // as in the writer's port
};

struct ThreadBlock {
  int channel = 0;
  // Identical channels (same peers, same bytes) are described once; this many run in parallel.
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

// A range of ports.
struct PortRange {
  int first = 0;
  int count = 0;
  friend bool operator==(const PortRange&, const PortRange&) = default;
};

// Another thread block of the same member that must have ended its primitive with this index; block < 0: none.
struct PrimitiveDependency {
  int block = -1;
  std::int64_t primitive = 0;
  friend bool operator==(const PrimitiveDependency&, const PrimitiveDependency&) = default;
};

// The data sent or stored is the sum of the data received and, when `reads`, of the member's own data.
struct Primitive {
  Bytes size;        // of the message, in each of the block's copies; 0 is a message too
  PortRange receives;
  PortRange sends;
  bool reads = false;
  bool stores = false;
  bool continues = false;  // continues the previous one with other ports: no fixed cost of its own
  bool notifies = false;  // other thread blocks of the member may depend on it
  std::vector<PrimitiveDependency> after;

  // The thread block itself adds (not a switch).
  bool adds = false;

  // One-sided work, in addition to the ports: members of the host into whose memory the block stores `size` bytes, and
  // from whose memory it loads them. `signal_only`: messages through the ports carry no data, only a signal;
  // then the block loads and stores `operands` and `results` times.
  std::vector<int> stores_to;
  std::vector<int> loads_from;
  bool signal_only = false;
  int operands = 0;
  int results = 0;

  void clear() {
    *this = {.after = std::move(after), .stores_to = std::move(stores_to), .loads_from = std::move(loads_from)};
    after.clear();
    stores_to.clear();
    loads_from.clear();
  }
  friend bool operator==(const Primitive&, const Primitive&) = default;
};

// For the proof: cells of the member's memory, in the order in which their contents travel in the message. A receive
// has the same length, cell by cell; an empty list where the primitive does not read (store).
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

  // The same number for every member; some may be empty. 0 for groups of one.
  [[nodiscard]] virtual int blocks(const CollectiveCall& call, const CollectivePlan& plan) const = 0;
  // Replaces `out`.
  virtual void block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                     ThreadBlock& out) const = 0;
  // Replaces `out`.
  virtual void primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                         std::int64_t index, Primitive& out) const = 0;

  // --- for folding ---
  // Replaces `out`: by thread block of the member, its role, a permutation of the blocks' numbers. Blocks of two
  // members with equal roles may be identical though their numbers differ: where every kind of channel starts with
  // another GPU, one GPU does on the first kind what the next one does on the second. Any permutation is correct; a
  // good one folds more.
  virtual void parts(const CollectiveCall& call, const CollectivePlan& plan, int member, std::vector<int>& out) const;
  // Two members whose thread blocks of this number have equal shapes run equal primitives through equal ports, possibly
  // to different peers. 0: not known, every primitive is compared.
  [[nodiscard]] virtual std::uint64_t shape(const CollectiveCall&, const CollectivePlan&, int /*member*/,
                                            int /*block*/) const {
    return 0;
  }

  // --- for the proof ---
  // Pieces of the buffer as in CollectiveAlgorithm::pieces; an all-to-all may have k for each pair, numbered
  // (s * size + d) * k and on. Cells are slots of a member's memory; for in-place algorithms, a piece's cell is its
  // number.
  [[nodiscard]] virtual int pieces(const CollectiveCall& call, const CollectivePlan& plan) const = 0;
  [[nodiscard]] virtual Bytes piece_size(const CollectiveCall& call, const CollectivePlan& plan, int piece) const = 0;
  virtual void contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                        std::int64_t index, PrimitiveContents& out) const = 0;
  [[nodiscard]] virtual int cells(const CollectiveCall& call, const CollectivePlan& plan) const {
    return pieces(call, plan);
  }
  // The cell of a piece at a member at the start, and at the end.
  [[nodiscard]] virtual int input_cell(const CollectiveCall&, const CollectivePlan&, int piece) const { return piece; }
  [[nodiscard]] virtual int output_cell(const CollectiveCall&, const CollectivePlan&, int piece) const { return piece; }
  [[nodiscard]] virtual Bytes cell_size(const CollectiveCall& call, const CollectivePlan& plan, int cell) const {
    return piece_size(call, plan, cell);
  }
};

// Decides how NCCL would run a call.
class ChannelTuner {
 public:
  virtual ~ChannelTuner() = default;
  // Never fails for a call the configuration allowed; the result depends on the call alone.
  [[nodiscard]] virtual CollectivePlan plan(const CollectiveCall& call) const = 0;
  // For a send and its matching receive.
  [[nodiscard]] virtual CollectivePlan plan_message(const MessageCall& call) const = 0;
};

// A plan and the algorithm that runs it.
struct ChannelChoice {
  const ChannelAlgorithm* algorithm = nullptr;
  CollectivePlan plan;
};

class ChannelChooser {
 public:
  virtual ~ChannelChooser() = default;
  [[nodiscard]] virtual ChannelChoice choose(const CollectiveCall& call) const = 0;
  // The algorithm runs a broadcast from member 0 to member 1 of a group of two.
  [[nodiscard]] virtual ChannelChoice choose_message(const MessageCall& call) const = 0;
};

}  // namespace ringwright
