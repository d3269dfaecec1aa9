// Recorded collectives against the same ones simulated on a described cluster.
//
// A recorded time includes waiting for the slowest rank. Where several ranks recorded a call, the shortest of them is
// compared; where only one did, the shortest of all calls of one size, since some of them waited least.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "traces/calls/joined_calls.h"
#include "validation/fit/error_statistics.h"
#include "validation/kineto/own_time.h"
#include "validation/nccl/collective_replay.h"

namespace ringwright::validation {

// How a communicator's ranks lie on hosts: the same number on each.
struct GroupShape {
  int hosts = 1;
  int gpus_per_host = 1;
};
// From the ranks of the group, in blocks of `gpus_per_host` to a host; else from its recorded hosts; else as if its
// ranks were consecutive. Empty where hosts would have different numbers of them, or there is one rank only.
[[nodiscard]] std::optional<GroupShape> shape_of(const traces::CallGroup& group, int gpus_per_host);

enum class CallsBy : std::uint8_t { kShape, kCommunicator };

struct ReplayedCalls {
  std::string communicator;  // with kCommunicator
  std::string operation;
  std::string kernel;  // what ran, as far as the record says
  Bytes bytes;
  GroupShape shape;
  std::size_t calls = 0;
  std::size_t records = 0;  // most ranks that recorded one of them
  Duration measured;
  Duration median;  // of the calls' own times
  Duration simulated;
  std::string algorithm;
  std::string protocol;
  OwnTime own = OwnTime::kRecorded;  // what is compared; other rows bound the simulated time from above
};

struct CallReplay {
  std::string cluster;
  int gpus_per_host = 0;
  std::vector<ReplayedCalls> rows;  // by operation, shape and size
  std::size_t without_size = 0;     // calls that are not compared, by reason
  std::size_t not_collective = 0;
  std::size_t uneven = 0;
};

struct CallReplayOptions {
  std::string cluster;  // a file or a shipped node
  std::vector<std::string> overrides;
  std::optional<int> hosts;  // of the measured job; else as many as its ranks fill
  int ranks = 0;             // of the measured job; 0: not known
  CallsBy by = CallsBy::kShape;
  bool kernels = false;  // times are those of kernels, which wait: rows that hold no own time are not compared
};
[[nodiscard]] Result<CallReplay> replay_calls(const traces::JoinedCalls& joined, const CallReplayOptions& options);

// Of the compared rows of one band of sizes.
[[nodiscard]] std::vector<PredictedMeasured> pairs_of(const std::vector<ReplayedCalls>& rows, SizeBand band);

}  // namespace ringwright::validation
