// Plays the background transfers of a plan: each starts at its time, whatever the job does, and nobody waits for it.
#pragma once

#include <cstdint>

#include "core/run/job/played_job.h"

namespace ringwright {

class BackgroundTraffic final : public TransferListener {
 public:
  explicit BackgroundTraffic(PlayedJob& job) : job_(job) {}

  // Before the job starts. Of a class, its representative's transfers stand for those of all.
  void schedule();
  void on_arrived(std::uint64_t) override {}

 private:
  void start(std::uint32_t index);

  PlayedJob& job_;
};

}  // namespace ringwright
