// By class of ranks, how far data that its thread blocks move lag behind what they would do on a GPU of their own.
//
// While kernels leave them a part of the memory that they ask for, data move at that part of their speed. What was
// begun when the class had some lag, and would be through now, has yet to make up for the lag that has come since then,
// at the speed that the class has meanwhile. Wires are held no longer than they would be without all this.
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
  // Data of the class that were begun at this lag would be through now. True: they are; else the listener is told when.
  [[nodiscard]] bool is_through(ClassId rank_class, double lag_at_begin, CopyBlockListener& listener,
                                std::uint64_t token);

 private:
  struct Waiting {
    double until = 0.0;  // of the clock's own time
    CopyBlockListener* listener = nullptr;
    std::uint64_t token = 0;
    std::uint64_t number = 0;  // of all that ever waited
    EventId end;
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
