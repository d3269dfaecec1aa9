// By class of ranks, how far the data moved by its thread blocks lag behind a GPU without contention.
//
// While kernels leave them a fraction of the memory bandwidth that they ask for, data move at that fraction of their
// speed. A transfer that began at some lag, and would be done now, still has to catch up the lag added since then, at
// the current speed of the class. Wires are held no longer than without contention.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/engine/engine.h"

namespace ringwright {

class CopyBlockListener {
 public:
  virtual ~CopyBlockListener() = default;
  virtual void on_caught_up(std::uint64_t token) = 0;
};

class CopyBlockClocks {
 public:
  CopyBlockClocks(Engine& engine, std::size_t classes) : engine_(engine), clocks_(classes) {}

  // In (0, 1], from now on.
  void set_speed(ClassId rank_class, double speed);
  [[nodiscard]] double speed(ClassId rank_class) const { return clocks_[rank_class.index()].speed; }

  // Picoseconds up to now; never less than before.
  [[nodiscard]] double lag(ClassId rank_class) const;
  // Data of the class that began at this lag would be done now. True: they are; else the listener is notified when.
  [[nodiscard]] bool is_through(ClassId rank_class, double lag_at_begin, CopyBlockListener& listener,
                                std::uint64_t token);

 private:
  struct Waiting {
    double until = 0.0;  // of the clock's own time
    CopyBlockListener* listener = nullptr;
    std::uint64_t token = 0;
    std::uint64_t number = 0;  // counted over all waits
    EventId end;
    TimePoint ends_at;
  };
  struct Clock {
    TimePoint since;
    double lag = 0.0;  // at `since`
    double speed = 1.0;
    std::vector<Waiting> waiting;
  };

  [[nodiscard]] double own_time(const Clock& clock) const;
  void schedule(ClassId rank_class, Waiting& waiting);
  void end(ClassId rank_class, std::uint64_t number);

  Engine& engine_;
  std::vector<Clock> clocks_;
  std::uint64_t waited_ = 0;
};

}  // namespace ringwright
