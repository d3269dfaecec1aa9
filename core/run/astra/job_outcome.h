// What a run by ASTRA-sim's rules found: times of ranks, collectives and links, and who never finished.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ports/message_network.h"

namespace ringwright {

struct RankOutcome {
  std::optional<Tick> finish = {};  // empty: never
  Tick gpu = 0;                     // sum of its computations, as they are subtracted for exposed communication
  Tick cpu = 0;
  [[nodiscard]] Tick exposed() const { return finish.value_or(0) - gpu; }
};

// All executions of one collective on one group: between the moment when the first member calls it and the moment when
// the last one is done.
struct CallOutcome {
  std::uint32_t call = 0;  // index in NodeJob::calls
  std::uint64_t executions = 0;
  Tick total = 0;
  Tick longest = 0;
};

// A node that waits for ever.
struct StuckNode {
  std::uint32_t rank = 0;
  std::uint64_t node = 0;  // id in the file
  std::string reason;      // "receives 1048576 bytes with tag 5 from rank 3, which sends none"
};

struct JobOutcome {
  std::vector<RankOutcome> ranks;
  std::vector<CallOutcome> calls;
  std::vector<MessageLinkUsage> links;  // the busiest ones; of collectives that were simulated message by message
  std::vector<StuckNode> stuck;
  std::optional<StuckNode> mismatch;  // two ranks meet in different collectives
  bool out_of_clock = false;
  std::uint64_t events = 0;
  std::uint64_t shortcuts = 0;  // collectives whose times were taken over from an equal one, or from one rank for all
};

}  // namespace ringwright
