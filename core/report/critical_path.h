// The critical path of the last step: the chain of tasks in which each waited for the one before. Only what is on it
// shortens the step; its parts add up to the step's time exactly.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"

namespace ringwright {

struct CriticalPath {
  // "computing", "TP communication", "host" (a task waits until its host has issued it), "data", "other".
  struct Kind {
    std::string name;
    Duration time;
    std::uint64_t tasks = 0;
  };
  // Parts that follow each other on one rank, up to the next communication that another rank bounds.
  struct Leg {
    RankId rank;
    std::string role;  // "stage 3"
    std::string what;  // "F3.0 to B0.0", "PP communication with stage 2"
    Duration start;    // since the step began
    Duration end;
    Duration computing;
    Duration communication;
    std::uint64_t tasks = 0;
  };
  // Times in which the first GPU of a role computes nothing, for the same thing.
  struct Wait {
    std::string role;
    std::string cause;  // "the activations of stage 2, microbatch 5"
    Duration total;
    Duration longest;
    std::uint64_t count = 0;
    Duration first;  // start of the earliest one, since the step began
  };

  Duration time;  // of the step
  std::uint64_t tasks = 0;
  std::uint64_t changes = 0;  // of the rank
  std::vector<Kind> kinds;    // the longest first
  std::vector<Leg> legs;      // in the order of time
  std::vector<Wait> waits;    // those with the longest single wait first
};

// "stage 3 waits 212 ms for the activations of stage 2, microbatch 5 (3 times)"
[[nodiscard]] std::string wait_text(const CriticalPath::Wait& wait);

// The path by kind, and the longest waits, for people.
[[nodiscard]] std::string render_critical_path(const CriticalPath& path);

}  // namespace ringwright
