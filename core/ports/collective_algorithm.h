// The port for collective algorithms: which messages a collective is made of. An algorithm is a pure function of
// (call, member, step); it knows no clock and holds no state, so it can be proved without one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/plan/collective_call.h"
#include "core/ports/router.h"

namespace ringwright {

// Members are named by their index in the group. With reach kWhole a message goes from this member to `peer`.
// kUpToSwitch: this member contributes to the switch it shares with `peer` (the switch reduces what arrives).
// kDownFromSwitch: the switch shared with `peer` sends to this member.
struct CollectiveSend {
  int peer = 0;
  Bytes size;
  RouteKind route_kind = RouteKind::kWhole;
  MessageNics nics = {};  // where the algorithm names them
};

// This step is over for us only when `peer`'s send number `send` of its step with the same index has arrived. That send
// has reach kWhole and is addressed to us; traffic with a switch is awaited with await_everyone.
struct CollectiveAwait {
  int peer = 0;
  int send = 0;
};

// What one member does in one step. It starts all sends when it enters the step and leaves the step when all of them
// have arrived and all awaited messages have arrived. A step may be empty.
struct CollectiveStep {
  std::vector<CollectiveSend> sends;
  std::vector<CollectiveAwait> awaits;
  // Also wait until every member's sends of this step have arrived. All members agree on it, step by step.
  bool await_everyone = false;

  void clear() {
    sends.clear();
    awaits.clear();
    await_everyone = false;
  }
};

// What a send carries, for the proof: pieces of the buffer, and what the receiver (or the switch) does with them.
struct SendContents {
  std::vector<int> pieces;
  bool reduce = false;  // add to what is there; otherwise replace it
};

// All steps of all members alike: one send to the member `offset` places on, one message awaited from as far behind.
struct UniformSteps {
  int offset = 1;
  Bytes size;  // of every message
};

class CollectiveAlgorithm {
 public:
  virtual ~CollectiveAlgorithm() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;  // "ring"
  [[nodiscard]] virtual std::string_view help() const = 0;  // one sentence with the source
  [[nodiscard]] virtual bool supports(const CollectiveCall& call) const = 0;

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
  // role is the difference peer - member modulo size. Lets folding look at one member instead of all steps of all.
  [[nodiscard]] virtual bool rotation_symmetric(const CollectiveCall&) const { return false; }

  // --- for fast-forward ---
  // What every step is like where all are alike; lets a run of steps among equal ranks be played as one.
  [[nodiscard]] virtual std::optional<UniformSteps> uniform_steps(const CollectiveCall&) const { return std::nullopt; }
};

class CollectiveChooser {
 public:
  virtual ~CollectiveChooser() = default;
  // Never fails for a call the configuration allowed; the answer depends on the call alone.
  [[nodiscard]] virtual const CollectiveAlgorithm& choose(const CollectiveCall& call) const = 0;
};

}  // namespace ringwright
