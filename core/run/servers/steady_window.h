// Windows of steps, each twice as long as the one before, until the speed of the workers is the same in two of them.
//
// Workers that wait for nobody meet at the servers differently in each step: those that begin together drift apart for
// tens of steps, and the speed in the first ones is not that in the end.
#pragma once

#include <cstdint>

namespace ringwright {

enum class CountUntil : std::uint8_t { kGiven, kSteady };

class SteadyWindow {
 public:
  struct Lengths {
    int warmup = 1;  // steps of the slowest worker before the first window
    int first = 1;   // and in it
  };
  SteadyWindow(const Lengths& lengths, CountUntil until);

  // `least`: steps that the slowest worker has ended.
  [[nodiscard]] bool is_over(std::uint64_t least) const { return least >= end_; }
  // False during the warm-up.
  [[nodiscard]] bool counts() const { return length_ > 0; }
  // Once it is over: whether its speed, of all workers, is that in the end.
  [[nodiscard]] bool is_last(double speed);
  void begin_next();

 private:
  CountUntil until_;
  std::uint64_t first_;
  std::uint64_t length_ = 0;
  std::uint64_t end_;
  double speed_before_ = 0.0;
};

}  // namespace ringwright
