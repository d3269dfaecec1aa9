// Why a run cannot continue: who waits for whom.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/ports/network_model.h"
#include "core/run/collectives/message_player.h"
#include "core/run/job/collective_runner.h"
#include "core/run/job/played_job.h"
#include "core/run/step/progress.h"

namespace ringwright {

// A task that cannot continue, and why.
struct Blocked {
  RankId rank;
  std::string program;
  std::string task;       // its label
  std::string waits_for;  // "rank 7 ...", "its task ..."
};

// A transfer that ended the run.
struct Broken {
  GivenUp transfer;
  std::string task;  // of the sender, that the transfer belongs to; empty: it no longer belongs to the job
  std::string call;  // which call of which group the sender is in, as in Blocked::waits_for
};

struct StallReport {
  std::vector<Blocked> blocked;  // at most a few dozen
  std::size_t unfinished_ranks = 0;
  TimePoint at;
  std::optional<Broken> broken;
  std::vector<std::string> notes;  // added by the code that assembled the run: links that are down
};

struct StallSources {
  const PlayedJob& job;
  const std::vector<Program>& programs;  // as simulated
  std::span<const Progress> progress;    // by class
  int iterations = 1;                    // that each class should run
  const CollectiveRunner& collectives;
  const MessagePlayer& messages;
};

[[nodiscard]] StallReport report_stall(const StallSources& sources);

// For people: one line a blocked task.
[[nodiscard]] std::string render(const StallReport& stall);

}  // namespace ringwright
