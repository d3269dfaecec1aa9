// Simulates the background transfers of a plan: each starts at its time, independent of the job, and nobody waits for
// it.
#pragma once

#include <cstdint>

#include "core/run/job/played_job.h"

namespace ringwright {

class BackgroundTraffic final : public TransferListener {
 public:
  explicit BackgroundTraffic(PlayedJob& job) : job_(job) {}

  // Call before the job starts. The transfers of a class's representative stand for those of all its ranks, unless the
  // job does not depend on them: classes are found without those.
  void schedule();
  void on_arrived(std::uint64_t) override {}

 private:
  void start(std::uint32_t index);

  PlayedJob& job_;
};

}  // namespace ringwright
