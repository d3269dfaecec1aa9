#include "core/run/servers/steady_window.h"

#include <cmath>

namespace ringwright {
namespace {

// Steps in lockstep are equal to rounding. Of others, windows that are long against the turns of the workers.
constexpr double kEqual = 1e-6;
constexpr double kClose = 0.01;
constexpr std::uint64_t kLongWindow = 16;
constexpr std::uint64_t kMostSteps = 1'000;

}  // namespace

SteadyWindow::SteadyWindow(const Lengths& lengths, CountUntil until)
    : until_(until),
      first_(static_cast<std::uint64_t>(lengths.first)),
      end_(static_cast<std::uint64_t>(lengths.warmup)) {}

bool SteadyWindow::is_last(double speed) {
  const double allowed = (length_ >= kLongWindow ? kClose : kEqual) * speed;
  const bool steady = std::abs(speed - speed_before_) <= allowed;
  speed_before_ = speed;
  return until_ == CountUntil::kGiven || steady || end_ >= kMostSteps;
}

void SteadyWindow::begin_next() {
  length_ = counts() ? 2 * length_ : first_;
  end_ += length_;
}

}  // namespace ringwright
