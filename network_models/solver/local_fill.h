// Progressive filling of the paths that a change can affect, among others that keep their rates; chooses further paths
// on the go.
//
// Links become full in the order of their levels, the lowest first. The level of a link is the rate at which the chosen
// paths that still rise would fill what the others leave of it:
//
//     level(l) = (capacity(l) - load of fixed and frozen paths on l) / (sum of shares of rising paths on l)
//
// Two moments of that order prove that the fixed paths may keep their rates (the certificate, incremental_max_min.h):
//
//   1. When a link is full, its chosen paths freeze at its level. A fixed path on it that is faster than that is chosen
//      before.
//   2. When the filling reaches the rate of fixed paths that have their bottleneck on a link, the link must be full
//      with these paths, or become full at this rate. Otherwise they are chosen.
//
// A path that is chosen then is at least as fast as the filling has come, so nothing below that can change: each path
// is chosen once and frozen once, and a link is looked at when its level is reached, not in each round. This is the
// order in which the bottleneck structure of a network propagates a change (Ros-Giralt et al., "On the bottleneck
// structure of congestion-controlled networks", 2019).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "network_models/solver/level_queue.h"
#include "network_models/solver/path_table.h"

namespace ringwright::network_models {

// Tolerance of the certificate's comparisons: far above the rounding of sums of thousands of rates (1e-12), far below
// any difference of rates that matters.
inline constexpr double kCertificateTolerance = 1e-9;

class LocalFill {
 public:
  explicit LocalFill(PathTable& table) : table_(table) {}

  // Begins a solve of this number, which marks what belongs to it; chooses none.
  void begin(std::uint32_t solve_number);
  // Chooses a path, if it is not yet.
  void choose(PathSlot path) {
    PathTable::Path& row = table_.path(path);
    if (contains(row)) return;
    row.chosen_in = solve_number_;
    rows_.push_back({.path = path});
  }
  // Finds the rates of the chosen paths, and chooses all whose rate is affected.
  void fill();

  // As of the filling.
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] PathSlot operator[](std::size_t row) const { return rows_[row].path; }
  [[nodiscard]] double rate(std::size_t row) const { return rows_[row].rate; }
  [[nodiscard]] std::uint32_t bottleneck(std::size_t row) const { return visits_[rows_[row].bottleneck].link; }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr double kInfinite = std::numeric_limits<double>::infinity();

  // A chosen path. Its crossings begin at `first`, and end where those of the next one begin.
  struct Row {
    PathSlot path = 0;
    std::uint32_t first = 0;
    std::uint32_t bottleneck = kNone;  // a visit; kNone: it still rises
    double rate = 0.0;
  };
  // Of a chosen path and a link.
  struct Crossing {
    std::uint32_t visit = 0;
    std::uint32_t row = 0;
    std::uint32_t next = kNone;  // on the same link
    double share = 0.0;          // of all flows of the path
  };
  // A link that chosen paths cross.
  struct Visit {
    std::uint32_t link = 0;
    std::uint32_t crossings = kNone;  // the last one
    std::uint32_t rising = 0;         // chosen paths that still rise
    std::uint32_t held = 0;           // fixed paths that have their bottleneck here, until that is proved
    bool cancels = false;             // the sum of shares has lost digits by subtraction
    double remaining = 0.0;           // capacity that fixed and frozen paths leave
    double rising_share = 0.0;
    double held_rate = kInfinite;  // the lowest of the held ones
    double fastest_fixed = 0.0;    // no fixed path is faster
  };

  [[nodiscard]] bool contains(const PathTable::Path& path) const { return path.chosen_in == solve_number_; }
  [[nodiscard]] std::uint32_t visit_of(std::uint32_t link);
  void add_up_fixed(Visit& visit) const;
  void gather();
  void queue(std::uint32_t visit) {
    const double level = next_level(visits_[visit]);
    if (level < kInfinite) queue_.lower(visit, level);
  }
  [[nodiscard]] double level(Visit& visit) const;
  [[nodiscard]] double next_level(Visit& visit) const;
  void add_up_shares(Visit& visit) const;
  void reach(std::uint32_t visit);
  [[nodiscard]] bool is_held(const Visit& visit, double level) const;
  void release_held(std::uint32_t link);
  [[nodiscard]] bool release_faster(Visit& visit, double level);
  void freeze(std::uint32_t visit, double level);
  void freeze_row(std::uint32_t row, std::uint32_t bottleneck);

  PathTable& table_;
  std::uint32_t solve_number_ = 0;
  std::vector<Row> rows_;
  std::size_t gathered_ = 0;  // rows
  std::size_t frozen_ = 0;    // rows
  std::vector<Crossing> crossings_;
  std::vector<Visit> visits_;
  LevelQueue queue_;    // a link may have a higher level than it is queued with
  double front_ = 0.0;  // the level that was last reached
};

}  // namespace ringwright::network_models
