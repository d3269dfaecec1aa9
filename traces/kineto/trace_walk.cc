#include "traces/kineto/trace_walk.h"

namespace ringwright::traces {
namespace {

bool walk_events(JsonScanner& scanner, const TraceVisitor& visitor, TraceWalk& walk) {
  walk.has_events = true;
  if (!scanner.take('[')) return false;
  while (!scanner.take(']')) {
    const auto piece = scanner.value();
    if (!piece) return false;
    visitor.event(*piece);
    static_cast<void>(scanner.take(','));
  }
  return true;
}

bool walk_members(JsonScanner& scanner, const TraceVisitor& visitor, TraceWalk& walk) {
  while (!scanner.take('}')) {
    const auto key = scanner.value();
    if (!key) return false;
    const std::string name(key->text);
    if (!scanner.take(':')) return false;
    if (name == "\"traceEvents\"" && scanner.peek() == '[') {
      if (!walk_events(scanner, visitor, walk)) return false;
    } else {
      const auto value = scanner.value();
      if (!value) return false;
      visitor.member(name, *value);
    }
    static_cast<void>(scanner.take(','));
  }
  return true;
}

}  // namespace

TraceWalk walk_profiler_trace(JsonScanner& scanner, const TraceVisitor& visitor) {
  TraceWalk walk;
  if (scanner.peek() == '[') {
    walk.begins = true;
    walk.complete = walk_events(scanner, visitor, walk);
  } else if (scanner.take('{')) {
    walk.begins = true;
    walk.complete = walk_members(scanner, visitor, walk);
  }
  return walk;
}

}  // namespace ringwright::traces
