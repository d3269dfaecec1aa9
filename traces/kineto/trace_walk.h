// Walks through the JSON of a profiler's trace while it is read: its events one by one, its other members whole.
#pragma once

#include <functional>
#include <string>

#include "traces/input/json_scanner.h"

namespace ringwright::traces {

struct TraceVisitor {
  std::function<void(const JsonPiece& event)> event;
  std::function<void(const std::string& name, const JsonPiece& value)> member;  // of the head: "\"deviceProperties\""
};

struct TraceWalk {
  bool begins = false;  // with an object, or with a list of events, which is the older form
  bool has_events = false;
  bool complete = false;  // to its end
};

// `scanner` says why a walk is not complete.
[[nodiscard]] TraceWalk walk_profiler_trace(JsonScanner& scanner, const TraceVisitor& visitor);

}  // namespace ringwright::traces
