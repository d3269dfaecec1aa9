// Why a run cannot go on: who waits for whom.
#pragma once

#include <cstddef>
#include <optional>
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

// A task that cannot go on, and why.
struct Blocked {
  RankId rank;
  std::string program;
  std::string task;       // its label
  std::string waits_for;  // "rank 7 ...", "its task ..."
};

// A transfer with which the run ended.
struct Broken {
  GivenUp transfer;
  std::string task;  // of the sender, that the transfer belongs to; empty: it is the job's no longer
  std::string call;  // which call of which group the sender is in, as in Blocked::waits_for
};

struct StallReport {
  std::vector<Blocked> blocked;  // at most a few dozen
  std::size_t unfinished_ranks = 0;
  TimePoint at;
  std::optional<Broken> broken;
  std::vector<std::string> notes;  // what whoever assembled the run adds: links that are down
};

struct StallSources {
  const PlayedJob& job;
  const std::vector<Program>& programs;  // as they were played
  const std::vector<Progress>& progress;  // by class
  int iterations = 1;                     // that each class was to play
  const CollectiveRunner& collectives;
  const MessagePlayer& messages;
};

[[nodiscard]] StallReport report_stall(const StallSources& sources);

// For people: one line a blocked task.
[[nodiscard]] std::string render(const StallReport& stall);

}  // namespace ringwright
