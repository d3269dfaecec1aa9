// What the host of one rank did, from a trace of PyTorch's profiler: its operations and annotations, and the work of
// the GPU that they launched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "traces/kineto/kineto_event.h"

namespace ringwright::traces {

struct HostEvent {
  std::string name;
  std::int64_t thread = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::optional<std::uint64_t> record;  // of the recorded function; empty: not written by this version
};

struct LaunchedWork {
  std::uint64_t correlation = 0;  // of its launch
  Duration time;
};

struct HostTrace {
  std::int64_t process = -1;
  std::vector<HostEvent> events;                           // by thread, then by start, those that last longer first
  std::vector<LaunchedWork> work;                          // kernels, copies, memory sets
  std::unordered_map<std::uint64_t, HostLaunch> launches;  // by correlation; looked up only

  // The innermost event of a thread at a time; null: none.
  [[nodiscard]] const HostEvent* innermost(std::int64_t thread, std::int64_t at_ns) const;
};

// Plain or gzip; a file that ends early is used up to its end.
[[nodiscard]] Result<HostTrace> read_host_trace(const std::string& path);

}  // namespace ringwright::traces
