// The events of a network model: the end of the current instant, and the next instant at which something is due.
#pragma once

#include <utility>

#include "core/engine/engine.h"
#include "network_models/flow/completion_queue.h"

namespace ringwright::network_models {

class InstantEvents {
 public:
  explicit InstantEvents(Engine& engine) : engine_(engine) {}

  // `end` runs once, at the end of this instant; however often it is asked for before.
  template <class End>
  void at_end(End end) {
    if (ending_) return;
    ending_ = true;
    engine_.at_end_of_instant([this, end] {
      ending_ = false;
      end();
    });
  }
  // `wake` runs at that moment, instead of the one set before; kNever: not at all.
  template <class Wake>
  void wake_at(TimePoint when, Wake wake) {
    if (when == wake_at_) return;
    if (wake_at_ != kNever) engine_.cancel(wake_event_);
    wake_at_ = when;
    if (when == kNever) return;
    wake_event_ = engine_.at(when, [this, wake] {
      wake_at_ = kNever;
      wake();
    });
  }

 private:
  Engine& engine_;
  bool ending_ = false;
  TimePoint wake_at_ = kNever;
  EventId wake_event_;
};

}  // namespace ringwright::network_models
