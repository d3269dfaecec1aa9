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
#include "core/run/job/fine_time.h"

namespace ringwright {

class CopyBlockListener {
 public:
  virtual ~CopyBlockListener() = default;
  virtual void on_caught_up(std::uint64_t token) = 0;
  // As TransferListener::identity.
  [[nodiscard]] virtual std::uint64_t identity(std::uint64_t token) const = 0;
};

class CopyBlockClocks {
 public:
  CopyBlockClocks(Engine& engine, std::size_t classes) : engine_(engine), clocks_(classes) {}

  // In (0, 1], from now on.
  void set_speed(ClassId rank_class, double speed);
  [[nodiscard]] double speed(ClassId rank_class) const { return clocks_[rank_class.index()].speed; }

  // Up to now; never less than before.
  [[nodiscard]] FineTime lag(ClassId rank_class) const;
  // Data of the class that began at this lag would be done now. True: they are; else the listener is notified when.
  [[nodiscard]] bool is_through(ClassId rank_class, FineTime lag_at_begin, CopyBlockListener& listener,
                                std::uint64_t token);

  // A hash of the class's clock and of what waits for it, relative to now; and of a lag, relative to the clock's.
  [[nodiscard]] std::uint64_t digest(ClassId rank_class) const;
  [[nodiscard]] std::uint64_t digest_of_lag(ClassId rank_class, FineTime lag) const {
    return (lag - clocks_[rank_class.index()].lag).digest();
  }

 private:
  struct Waiting {
    FineTime until;  // of the clock's own time
    CopyBlockListener* listener = nullptr;
    std::uint64_t token = 0;
    std::uint64_t number = 0;  // counted over all waits
    EventId end;
    TimePoint ends_at;
  };
  struct Clock {
    TimePoint since;
    FineTime lag;  // at `since`
    double speed = 1.0;
    std::vector<Waiting> waiting;
  };

  [[nodiscard]] FineTime lag(const Clock& clock) const;
  [[nodiscard]] FineTime own_time(const Clock& clock) const;
  void schedule(ClassId rank_class, Waiting& waiting);
  void end(ClassId rank_class, std::uint64_t number);

  Engine& engine_;
  std::vector<Clock> clocks_;
  std::uint64_t waited_ = 0;
};

}  // namespace ringwright
