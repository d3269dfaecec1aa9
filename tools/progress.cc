#include "tools/progress.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

constexpr std::chrono::milliseconds kBetweenUpdates{200};
constexpr std::chrono::milliseconds kBetweenBars{1000};  // while nothing is reported
// The first percent is not representative of the rest.
constexpr double kRepresentative = 0.01;

double seconds_to_go(const ProgressState& state) { return state.seconds * (1.0 - state.done) / state.done; }

// Before its first event a step is planned, folded, and kernels of its collectives are simulated alone.
bool is_set_up(const ProgressState& state) { return state.unit != "events" || state.done > 0.0 || state.events > 0; }

std::string event_rate(const ProgressState& state) {
  const double rate = state.seconds > 0.0 ? static_cast<double>(state.events) / state.seconds : 0.0;
  if (state.unit != "events") return fmt::format("{} {}, {:.3g}/s", state.events, state.unit, rate);
  return rate >= 1e6 ? fmt::format("{:.2f} M events/s", rate / 1e6) : fmt::format("{:.0f} k events/s", rate / 1e3);
}

}  // namespace

std::string progress_bar(const ProgressState& state) {
  constexpr int kWidth = 30;
  if (!is_set_up(state)) return fmt::format("setting up the step, {:.0f} s", state.seconds);
  const double done = std::clamp(state.done, 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(done * kWidth);
  std::string text = fmt::format("[{}{}] {:.0f} %  {}", std::string(filled, '#'), std::string(kWidth - filled, '-'),
                                 100.0 * done, event_rate(state));
  if (done > kRepresentative) text += fmt::format("  {:.0f} s to go", seconds_to_go(state));
  return text;
}

std::string progress_line(const ProgressState& state) {
  if (!is_set_up(state)) return fmt::format("setting up the step  after {:.0f} s", state.seconds);
  std::string text = fmt::format("{:.0f} %  {}  after {:.0f} s", 100.0 * state.done, event_rate(state), state.seconds);
  if (state.done > kRepresentative && state.done < 1.0) text += fmt::format(", {:.0f} s to go", seconds_to_go(state));
  return text;
}

ProgressStyle progress_style(bool quiet) {
  if (quiet) return ProgressStyle::kNone;
  return is_terminal(Stream::kError) ? ProgressStyle::kBar : ProgressStyle::kLines;
}

Progress::Progress(ProgressStyle style, std::string_view unit, std::chrono::milliseconds between_lines)
    : style_(style), unit_(unit), began_(Clock::now()) {
  if (style_ == ProgressStyle::kNone) return;
  const auto between = style_ == ProgressStyle::kLines ? between_lines : kBetweenBars;
  writer_ = std::jthread([this, between](const std::stop_token& stop) { write_now_and_then(stop, between); });
}

ProgressState Progress::state() const {
  const std::chrono::duration<double> since = Clock::now() - began_;
  return {.done = done_, .events = events_, .seconds = since.count(), .unit = unit_};
}

void Progress::update(double done, std::uint64_t events) {
  if (style_ == ProgressStyle::kNone) return;
  const std::scoped_lock lock(mutex_);
  if (done >= 1.0) ended_ = Clock::now();
  if (done < 1.0 && done_ >= 1.0) began_ = ended_;
  done_ = done;
  events_ = events;
  if (style_ == ProgressStyle::kBar && Clock::now() - last_shown_ >= kBetweenUpdates) draw_bar();
}

void Progress::draw_bar() {
  std::fprintf(stderr, "\r\x1b[K%s", progress_bar(state()).c_str());
  std::fflush(stderr);
  last_shown_ = Clock::now();
  on_screen_ = true;
}

void Progress::write_now_and_then(const std::stop_token& stop, std::chrono::milliseconds between) {
  std::unique_lock lock(mutex_);
  for (Clock::time_point next = began_ + between;; next += between) {
    ends_.wait_until(lock, stop, next, [] { return false; });
    if (stop.stop_requested()) return;
    if (style_ == ProgressStyle::kLines) {
      std::fprintf(stderr, "%s\n", progress_line(state()).c_str());
    } else if (Clock::now() - last_shown_ >= between) {
      draw_bar();
    }
  }
}

void Progress::clear() {
  if (writer_.joinable()) {
    writer_.request_stop();
    writer_.join();
  }
  if (!on_screen_) return;
  std::fputs("\r\x1b[K", stderr);
  on_screen_ = false;
}

std::function<void(std::size_t, std::size_t)> progress_of_parts(std::optional<Progress>& progress, bool quiet,
                                                                std::string_view unit) {
  const ProgressStyle style = progress_style(quiet);
  if (style == ProgressStyle::kNone) return {};
  progress.emplace(style, unit);
  return [&progress](std::size_t done, std::size_t all) {
    progress->update(static_cast<double>(done) / static_cast<double>(all), done);
  };
}

}  // namespace ringwright::tools
