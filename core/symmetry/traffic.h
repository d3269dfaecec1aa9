// What the programs of a task graph call and send, each thing once: all that is known of a rank's communication without
// its peers.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/random.h"
#include "core/base/units.h"
#include "core/plan/task_graph.h"

namespace ringwright {

using CollectiveContent = std::pair<CollectiveKind, Bytes>;
// The messages of a program from the view of a rank.
struct MessageContent {
  // Whether kernels of the library move it, on channels where these are simulated.
  [[nodiscard]] bool by_library() const { return path == DmaPath::kNone && moved_by == MovedBy::kLibrary; }
  DimensionId dimension;
  bool is_send = false;
  int peer = 0;
  bool relative = false;
  Bytes bytes;
  std::uint8_t channel = 0;
  DmaPath path = DmaPath::kNone;
  MovedBy moved_by = MovedBy::kLibrary;
  Importance importance = Importance::kEqual;
  friend auto operator<=>(const MessageContent&, const MessageContent&) = default;
};

// A message with the properties shared by all ranks that run its program.
struct ProgramMessage {
  explicit ProgramMessage(const MessageContent& message)
      : content(message),
        label(message_label(message.dimension, message.channel)),
        what(mix(mix(label, 256 * static_cast<std::uint64_t>(message.importance) +
                                static_cast<std::uint64_t>(message.path)),
                 static_cast<std::uint64_t>(message.bytes.count()))),
        ends(mix(static_cast<std::uint64_t>(message.peer), message.is_send ? 1 : 0)),
        role(mix(what, ends)) {}
  MessageContent content;
  std::uint32_t label;
  std::uint64_t what;
  std::uint64_t ends;
  std::uint64_t role;  // unless it runs on channels
};

// All collectives that a program calls in one dimension. By content: a table may hold equal entries twice.
using DimensionCalls = std::pair<DimensionId, std::set<CollectiveContent>>;

struct ProgramTraffic {
  std::vector<std::size_t> calls;  // by dimension that it uses: index into the distinct ones
  std::vector<ProgramMessage> messages;
};

struct Traffic {
  std::vector<DimensionCalls> calls;  // distinct: most stages of a pipeline make the same
  std::vector<ProgramTraffic> of_program;
};

[[nodiscard]] Traffic gather_traffic(const TaskGraph& graph);

}  // namespace ringwright
