// The port for collective algorithms: the messages of a collective. An algorithm is a pure function of (call, member,
// step); it has no clock and no state, so it can be proved without a simulation.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/plan/collective_call.h"
#include "core/ports/router.h"

namespace ringwright {

// Members are named by their index in the group. With route kind kWhole a message goes from this member to `peer`.
// kUpToSwitch: this member contributes to the switch it shares with `peer` (the switch reduces what arrives).
// kDownFromSwitch: the switch shared with `peer` sends to this member.
struct CollectiveSend {
  int peer = 0;
  Bytes size;
  RouteKind route_kind = RouteKind::kWhole;
  MessageNics nics = {};  // where the algorithm names them
};

// This member's step ends only when `peer`'s send number `send` of its step with the same index has arrived. That send
// has route kind kWhole and is addressed to this member; traffic with a switch is awaited with await_everyone.
struct CollectiveAwait {
  int peer = 0;
  int send = 0;
};

// One step of one member. It starts all sends when it enters the step and leaves the step when all of them and all
// awaited messages have arrived. A step may be empty.
struct CollectiveStep {
  std::vector<CollectiveSend> sends;
  std::vector<CollectiveAwait> awaits;
  // Also wait until every member's sends of this step have arrived. All members have the same value, step by step.
  bool await_everyone = false;

  void clear() {
    sends.clear();
    awaits.clear();
    await_everyone = false;
  }
};

// The contents of a send, for the proof: pieces of the buffer, and what the receiver (or the switch) does with them.
struct SendContents {
  std::vector<int> pieces;
  bool reduce = false;  // add to what is there; otherwise replace it
};

// All steps of all members are the same: one send to the member at index + `offset`, one message awaited from index -
// `offset`.
struct UniformSteps {
  int offset = 1;
  Bytes size;  // of every message
};

// Every step of every member is one message to the next member of a ring, and one awaited from the member before it.
struct RingSteps {
  std::vector<int> members;  // in the order of the ring
  // In step k the member at position p sends sizes[(p + shift - k) modulo their number]: one if all are equal, else as
  // many as members.
  std::vector<Bytes> sizes;
  int shift = 0;
};

// The sizes of messages where all steps send over the same edges and differ by sizes alone: each edge goes around one
// of few cycles.
struct CyclicSizes {
  struct Send {
    std::uint32_t cycle = 0;
    std::uint32_t first = 0;
  };
  std::vector<std::vector<Bytes>> cycles;
  // By member, by send: in step k it has the bytes of its cycle's entry (first - k) modulo their number.
  std::vector<std::vector<Send>> of_member;
};

class CollectiveAlgorithm {
 public:
  virtual ~CollectiveAlgorithm() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;  // "ring"
  [[nodiscard]] virtual std::string_view help() const = 0;  // one sentence with the source
  [[nodiscard]] virtual bool supports(const CollectiveCall& call) const = 0;

  // Whether its steps depend on the measured speeds of the hosts' NICs: where they are known, it is made for them.
  [[nodiscard]] virtual bool follows_host_speeds() const { return false; }

  // The same for all members. Groups of one member have 0 steps.
  [[nodiscard]] virtual int steps(const CollectiveCall& call) const = 0;
  // Replaces `out`.
  virtual void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const = 0;

  // --- for the proof ---
  // The buffer is cut into this many pieces; piece p has piece_size(call, p) bytes and the sizes add up to call.bytes.
  // Pieces of all-gather and reduce-scatter: those of member i are [i * pieces/size, (i+1) * pieces/size). Pieces of
  // all-to-all: those from member s to member d are numbered s * size + d, each member's buffer holding `size` of
  // them (so pieces = size * size and the sizes of one sender's pieces add up to call.bytes).
  [[nodiscard]] virtual int pieces(const CollectiveCall& call) const = 0;
  [[nodiscard]] virtual Bytes piece_size(const CollectiveCall& call, int piece) const = 0;
  virtual void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const = 0;

  // --- for folding ---
  // Whether all members do the same up to renaming: the sequence of (bytes, role) is equal for every member, where a
  // role is the difference peer - member modulo size. Lets folding check one member instead of all steps of all.
  [[nodiscard]] virtual bool rotation_symmetric(const CollectiveCall&) const { return false; }

  // --- for ranks that progress together ---
  // The first step after `index` whose messages differ from those of step `index` by more than the rounding of their
  // sizes: of a ring, the end.
  [[nodiscard]] virtual int same_until(const CollectiveCall&, int index) const { return index + 1; }

  // --- for fast-forward ---
  // Of calls whose pieces are unequal. Empty: not known in this form.
  [[nodiscard]] virtual std::optional<CyclicSizes> cyclic_sizes(const CollectiveCall&) const { return std::nullopt; }
  // The common step where all are the same; lets a run of steps among equal ranks be simulated as one.
  [[nodiscard]] virtual std::optional<UniformSteps> uniform_steps(const CollectiveCall&) const { return std::nullopt; }
  // The steps as those of one ring.
  [[nodiscard]] virtual std::optional<RingSteps> ring_steps(const CollectiveCall&) const { return std::nullopt; }
};

// Then the messages of a phase (same_until) are equal.
[[nodiscard]] bool has_equal_pieces(const CollectiveAlgorithm& algorithm, const CollectiveCall& call);

class CollectiveChooser {
 public:
  virtual ~CollectiveChooser() = default;
  // Never fails for a call the configuration allowed; the answer depends on the call alone.
  [[nodiscard]] virtual const CollectiveAlgorithm& choose(const CollectiveCall& call) const = 0;
};

}  // namespace ringwright
