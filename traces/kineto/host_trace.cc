#include "traces/kineto/host_trace.h"

#include <utility>

#include <fmt/format.h>

#include "traces/input/byte_stream.h"
#include "traces/input/json_scanner.h"
#include "traces/kineto/host_nesting.h"
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

const HostEvent* HostTrace::innermost(std::int64_t thread, std::int64_t at_ns) const {
  return innermost_event(events, thread, at_ns);
}

Result<HostTrace> read_host_trace(const std::string& path) {
  auto stream = ByteStream::open(path);
  if (!stream) return tl::unexpected(failure("E255", "cannot read '" + path + "': " + stream.error(), {.file = path}));
  JsonScanner scanner(std::move(*stream));
  KinetoParser parser(HostEvents::kAll);
  KinetoEvent event;
  HostTrace trace;
  const TraceWalk walk = walk_profiler_trace(scanner, {.event =
                                                           [&](const JsonPiece& piece) {
                                                             if (parser.event(piece, event))
                                                               keep_host_event(event, trace);
                                                           },
                                                       .member = [](const std::string&, const JsonPiece&) {}});
  if (!walk.has_events) {
    return tl::unexpected(failure("E255", fmt::format("'{}' has no traceEvents", path), {.file = path}));
  }
  sort_nested(trace.events);
  return trace;
}

}  // namespace ringwright::traces
