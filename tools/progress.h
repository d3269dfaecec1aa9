// The progress of a run, on stderr: on a terminal a line refreshed five times a second, else one line per tenth of the
// run.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ringwright::tools {

enum class ProgressStyle { kNone, kLines, kBar };

class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  // `unit`: what the second number of update() counts, a text that outlives this.
  explicit Progress(ProgressStyle style, std::string_view unit = "events")
      : style_(style), unit_(unit), started_(Clock::now()) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` in [0, 1].
  void update(double done, std::uint64_t events);
  // Removes the moving line from the terminal.
  void clear();

 private:
  ProgressStyle style_;
  std::string_view unit_;
  Clock::time_point started_;
  Clock::time_point last_shown_;
  int tenths_shown_ = 0;
  bool on_screen_ = false;
};

// For work of which parts are counted: a bar in `progress`, unless it is quiet or stderr is no terminal.
[[nodiscard]] std::function<void(std::size_t done, std::size_t all)> bar_of_parts(std::optional<Progress>& progress,
                                                                                bool quiet);

struct ProgressState {
  double done = 0.0;
  std::uint64_t events = 0;
  double seconds = 0.0;  // since the start
  std::string_view unit = "events";
};

// "[#########---------------------] 31 %  1.34 M events/s  2 s to go"
[[nodiscard]] std::string progress_bar(const ProgressState& state);

}  // namespace ringwright::tools
