// Tasks that have ended and whose successors are not started yet, in order. Tasks may end while others are being
// started: a queue instead of recursion keeps the stack flat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/ids.h"

namespace ringwright {

class EndedTasks {
 public:
  struct Ended {
    ClassId rank_class;
    std::uint32_t task = 0;
  };

  // Settles the task and all that end meanwhile; within an outer call it joins the queue of that one.
  template <class Settle>
  void end(const Ended& ended, Settle&& settle) {
    queue_.push_back(ended);
    if (!settling_) settle_all(settle);
  }
  // What ends while the first tasks start is settled afterwards.
  template <class Start, class Settle>
  void settle_after(Start&& start, Settle&& settle) {
    settling_ = true;
    start();
    settle_all(settle);
  }

 private:
  template <class Settle>
  void settle_all(Settle& settle) {
    settling_ = true;
    for (std::size_t i = 0; i < queue_.size(); ++i) settle(Ended(queue_[i]));
    queue_.clear();
    settling_ = false;
  }

  std::vector<Ended> queue_;
  bool settling_ = false;
};

}  // namespace ringwright
