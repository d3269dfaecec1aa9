// The progress of a command, on stderr: on a terminal a line refreshed five times a second, else a line every ten
// seconds; also while a long part of the work reports nothing, on a terminal once a second then.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace ringwright::tools {

enum class ProgressStyle { kNone, kLines, kBar };
// What suits stderr, unless the command is quiet.
[[nodiscard]] ProgressStyle progress_style(bool quiet);

struct ProgressState {
  double done = 0.0;
  std::uint64_t events = 0;
  double seconds = 0.0;  // since the start of the stage
  std::string_view unit = "events";
};

class Progress {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kBetweenLines{10'000};

  // `unit`: what the second number of update() counts, a text that outlives this.
  explicit Progress(ProgressStyle style, std::string_view unit = "events",
                    std::chrono::milliseconds between_lines = kBetweenLines);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` in [0, 1]. Work in several stages counts each of them from 0 to 1.
  void update(double done, std::uint64_t events);
  // Removes the moving line from the terminal; no further line is written.
  void clear();

 private:
  [[nodiscard]] ProgressState state() const;
  void write_now_and_then(const std::stop_token& stop, std::chrono::milliseconds between);
  void draw_bar();

  ProgressStyle style_;
  std::string_view unit_;
  std::mutex mutex_;  // of what follows
  Clock::time_point last_shown_;
  bool on_screen_ = false;
  double done_ = 0.0;
  std::uint64_t events_ = 0;
  Clock::time_point began_;  // the present stage
  Clock::time_point ended_;  // the last one
  std::condition_variable_any ends_;
  std::jthread writer_;  // while nothing is reported
};

// For work of which parts are counted: shown in `progress`, unless it is quiet.
[[nodiscard]] std::function<void(std::size_t done, std::size_t all)> progress_of_parts(
    std::optional<Progress>& progress, bool quiet, std::string_view unit = "parts");

// "[#########---------------------] 31 %  1.34 M events/s  2 s to go"; before the first event:
// "setting up the step, 2 s"
[[nodiscard]] std::string progress_bar(const ProgressState& state);
// "31 %  1.34 M events/s  after 10 s, 22 s to go"
[[nodiscard]] std::string progress_line(const ProgressState& state);

}  // namespace ringwright::tools
