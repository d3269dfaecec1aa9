#include "traces/kineto/host_trace.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "traces/input/byte_stream.h"
#include "traces/input/json_scanner.h"
#include "traces/kineto/kineto_event.h"
#include "traces/kineto/trace_walk.h"

namespace ringwright::traces {
namespace {

void keep_host_event(const KinetoEvent& event, HostTrace& trace) {
  switch (event.kind) {
    case EventKind::kOther:
    case EventKind::kGpuAnnotation: return;
    case EventKind::kKernel:
    case EventKind::kCopy:
    case EventKind::kMemset:
      trace.work.push_back({.correlation = event.correlation, .time = Duration(event.time_ps)});
      return;
    case EventKind::kLaunch:
      trace.launches[event.correlation] = {.thread = event.thread, .start_ns = event.start_ns};
      return;
    case EventKind::kOperation:
    case EventKind::kAnnotation:
      if (trace.process < 0) trace.process = event.process;
      trace.events.push_back({.name = std::string(event.name),
                              .thread = event.thread,
                              .start_ns = event.start_ns,
                              .end_ns = (Duration(event.start_ns) + Duration(event.time_ps / 1000)).count(),
                              .record = event.record});
      return;
  }
}

}  // namespace

// Events of a thread are nested: the innermost one is the last that began before and has not ended.
const HostEvent* HostTrace::innermost(std::int64_t thread, std::int64_t at_ns) const {
  auto after = std::ranges::upper_bound(events, std::tuple(thread, at_ns), {},
                                        [](const HostEvent& e) { return std::tuple(e.thread, e.start_ns); });
  constexpr int kMostSteps = 10'000;  // over siblings that have ended
  for (int step = 0; step < kMostSteps && after != events.begin(); ++step) {
    --after;
    if (after->thread != thread) return nullptr;
    if (after->end_ns >= at_ns) return &*after;
  }
  return nullptr;
}

Result<HostTrace> read_host_trace(const std::string& path) {
  auto stream = ByteStream::open(path);
  if (!stream) return tl::unexpected(failure("E255", "cannot read '" + path + "': " + stream.error(), {.file = path}));
  JsonScanner scanner(std::move(*stream));
  KinetoParser parser(HostEvents::kAll);
  KinetoEvent event;
  HostTrace trace;
  const TraceWalk walk = walk_profiler_trace(scanner, {.event = [&](const JsonPiece& piece) {
                                                         if (parser.event(piece, event)) keep_host_event(event, trace);
                                                       },
                                                       .member = [](const std::string&, const JsonPiece&) {}});
  if (!walk.has_events) {
    return tl::unexpected(failure("E255", fmt::format("'{}' has no traceEvents", path), {.file = path}));
  }
  std::ranges::stable_sort(trace.events, {},
                           [](const HostEvent& e) { return std::tuple(e.thread, e.start_ns, -e.end_ns); });
  return trace;
}

}  // namespace ringwright::traces
