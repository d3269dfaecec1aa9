// Times of collective calls when nobody else uses their links, as measured by a rehearsal: whole calls among ranks of
// one class, the messages of rings whose members are of several, messages that ranks of one class send each other, and
// calls as kernels run them.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/plan/task_graph.h"
#include "core/ports/network_model.h"

namespace ringwright {

class LoneCalls;
struct LoneCall;

// A ring of classes. Message k of an edge leaves when the edge's own message k-1 and that of the edge before have
// arrived (RingEdge).
struct RehearsedRing {
  struct Edge {
    ClassId rank_class;
    std::uint32_t first = 0;      // message k takes times[(first - k) modulo their number]
    std::vector<Duration> times;  // from its start to its arrival
  };
  std::vector<Edge> edges;    // in the order of the ring
  std::uint32_t repeats = 0;  // messages of each
  Duration overhead;          // from a member's call to its first message
};

struct RehearsedCall {
  static constexpr std::uint32_t kNoRing = std::numeric_limits<std::uint32_t>::max();
  DimensionId dimension;
  TaskKind kind = TaskKind::kCollective;  // or a send, from its start to the message's arrival
  std::uint32_t spec = 0;  // index into TaskGraph::collectives, or messages
  Duration time;           // where all members begin at the same time
  Bytes sent;
  std::uint64_t messages = 0;
  std::vector<UsedLink> links;  // that it uses; none where the network model shares none and link usage is not reported
  std::uint32_t ring = kNoRing;  // index into RehearsedCalls::rings; none: the members are of one class
  std::uint32_t edge = 0;        // of that ring
  LoneCall* lone = nullptr;      // as kernels run it: its time and traffic depend on when its members start
  std::uint32_t member = 0;      // of that call
};

struct RehearsedCalls {
  std::vector<std::vector<RehearsedCall>> of_class;
  std::vector<RehearsedRing> rings;
  LoneCalls* lone = nullptr;  // of calls as kernels run them
  bool lone_of_several = false;  // members of some of them are of several classes

  // Whether classes go through segments together.
  [[nodiscard]] bool joins_classes() const { return !rings.empty() || lone_of_several; }

  // Null: it was not rehearsed.
  [[nodiscard]] const RehearsedCall* find(ClassId rank_class, const Task& task) const {
    for (const RehearsedCall& call : of_class[rank_class.index()]) {
      if (call.dimension == task.dimension && call.spec == task.detail && call.kind == task.kind) return &call;
    }
    return nullptr;
  }
};

}  // namespace ringwright
