#include "tools/progress.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

constexpr std::chrono::milliseconds kBetweenUpdates{200};
// Shorter runs need no progress in a log.
constexpr double kQuietSeconds = 2.0;

std::string event_rate(const ProgressState& state) {
  const double rate = state.seconds > 0.0 ? static_cast<double>(state.events) / state.seconds : 0.0;
  if (state.unit != "events") return fmt::format("{} {}, {:.3g}/s", state.events, state.unit, rate);
  return rate >= 1e6 ? fmt::format("{:.2f} M events/s", rate / 1e6) : fmt::format("{:.0f} k events/s", rate / 1e3);
}

}  // namespace

std::string progress_bar(const ProgressState& state) {
  constexpr int kWidth = 30;
  const double done = std::clamp(state.done, 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(done * kWidth);
  std::string text = fmt::format("[{}{}] {:.0f} %  {}", std::string(filled, '#'), std::string(kWidth - filled, '-'),
                                 100.0 * done, event_rate(state));
  // The first percent is not representative of the rest.
  if (done > 0.01) text += fmt::format("  {:.0f} s to go", state.seconds * (1.0 - done) / done);
  return text;
}

void Progress::update(double done, std::uint64_t events) {
  if (style_ == ProgressStyle::kNone) return;
  const Clock::time_point now = Clock::now();
  const ProgressState state{
      .done = done, .events = events, .seconds = std::chrono::duration<double>(now - started_).count(), .unit = unit_};
  if (style_ == ProgressStyle::kBar) {
    if (now - last_shown_ < kBetweenUpdates) return;
    std::fprintf(stderr, "\r\x1b[K%s", progress_bar(state).c_str());
    std::fflush(stderr);
    last_shown_ = now;
    on_screen_ = true;
    return;
  }
  const int tenths = static_cast<int>(done * 10.0);
  if (tenths <= tenths_shown_ || state.seconds < kQuietSeconds) return;
  tenths_shown_ = tenths;
  std::fprintf(stderr, "%d %%  %s\n", tenths * 10, event_rate(state).c_str());
}

void Progress::clear() {
  if (!on_screen_) return;
  std::fputs("\r\x1b[K", stderr);
  on_screen_ = false;
}

std::function<void(std::size_t, std::size_t)> bar_of_parts(std::optional<Progress>& progress, bool quiet) {
  if (quiet || !is_terminal(Stream::kError)) return {};
  progress.emplace(ProgressStyle::kBar, "parts");
  return [&progress](std::size_t done, std::size_t all) {
    progress->update(static_cast<double>(done) / static_cast<double>(all), done);
  };
}

}  // namespace ringwright::tools
