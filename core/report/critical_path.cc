#include "core/report/critical_path.h"

#include <algorithm>

#include <fmt/format.h>

namespace ringwright {
namespace {

constexpr std::size_t kWaitsShown = 5;

}  // namespace

std::string wait_text(const CriticalPath::Wait& wait) {
  const std::string times = wait.count > 1 ? fmt::format(" ({} times)", wait.count) : "";
  return fmt::format("{} waits {} for {}{}", wait.role, to_string(wait.total), wait.cause, times);
}

std::string render_critical_path(const CriticalPath& path) {
  std::string route = "all of one rank";
  if (path.changes == 1) route = "from rank to rank once";
  if (path.changes > 1) route = fmt::format("from rank to rank {} times", path.changes);
  std::string text = fmt::format("\n  Critical path of the step: {}, {} task{}, {}\n", to_string(path.time), path.tasks,
                                 path.tasks == 1 ? "" : "s", route);
  for (const CriticalPath::Kind& kind : path.kinds) {
    text += fmt::format("    {:<28} {:>10}  {:5.1f} %\n", kind.name, to_string(kind.time),
                        100.0 * ratio(kind.time, path.time));
  }
  for (std::size_t i = 0; i < std::min(path.waits.size(), kWaitsShown); ++i) {
    text += "    " + wait_text(path.waits[i]) + "\n";
  }
  return text;
}

}  // namespace ringwright
