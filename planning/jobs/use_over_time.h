// How much of a cluster is in use over time, as means over equal intervals.
//
// The length of a run is not known before its end: intervals begin short, and are joined in pairs whenever more than
// kMostUseIntervals of them would be needed. Sums over all intervals are exact whatever their length is.
#pragma once

#include <cstddef>
#include <vector>

namespace ringwright::planning {

inline constexpr std::size_t kMostUseIntervals = 256;

// A time in which nothing changes, in seconds from the first submission.
struct UseSpan {
  double from = 0.0;
  double to = 0.0;
  double gpus = 0.0;     // in use
  double waiting = 0.0;  // jobs
};

class UseOverTime {
 public:
  // Spans come in the order of time.
  void add(const UseSpan& span);

  // Seconds.
  [[nodiscard]] double interval() const { return interval_; }
  // Means by interval; the last one lasts until the end of the last span.
  [[nodiscard]] std::vector<double> gpus() const { return means(gpu_seconds_); }
  [[nodiscard]] std::vector<double> waiting() const { return means(waiting_seconds_); }

 private:
  [[nodiscard]] std::vector<double> means(const std::vector<double>& sums) const;
  void join_pairs();

  double interval_ = 60.0;
  double end_ = 0.0;
  std::vector<double> gpu_seconds_;
  std::vector<double> waiting_seconds_;
};

}  // namespace ringwright::planning
