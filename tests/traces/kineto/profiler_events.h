// Events of a profiler's trace, as text.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

namespace ringwright::traces::test {

// `arguments` as JSON members: "\"stream\": 7". Times in us.
inline std::string gpu_kernel(const std::string& name, const std::string& start, const std::string& time,
                              const std::string& arguments = "") {
  return fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": 7, "ts": {}, "dur": {},)"
                     R"( "args": {{"device": 0, "stream": 7{}{}}}}})",
                     name, start, time, arguments.empty() ? "" : ", ", arguments);
}

inline std::string host_event(const std::string& category, const std::string& name, int start, int time,
                              const std::string& arguments) {
  return fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 1, "tid": 9, "ts": {}, "dur": {}, "args": {{{}}}}})", category,
      name, start, time, arguments);
}

// `head`: members before the events.
inline std::string profiler_trace(const std::vector<std::string>& events, const std::string& head = "") {
  return fmt::format("{{{}\"traceEvents\": [\n{}\n]}}", head, fmt::join(events, ",\n"));
}

}  // namespace ringwright::traces::test
