#include "core/run/step/wait_recorder.h"

namespace ringwright {

void WaitRecorder::join(ClassId c, std::uint32_t task, const CallId& call) {
  const auto [at, is_new] = calls_.try_emplace(key_of(c, call));
  if (is_new) at->second.left = roster_.classes_of_group(c, call.dimension).size();
  at->second.last_class = c;
  at->second.last_task = task;
  at->second.joined = of(c, task).start;
}

void WaitRecorder::leave(ClassId c, std::uint32_t task, const CallId& call) {
  const auto at = calls_.find(key_of(c, call));
  if (at == calls_.end()) return;
  TaskWait& wait = of(c, task);
  // Of equally late members itself.
  if (at->second.joined > wait.start) {
    wait.origin = at->second.last_class;
    wait.origin_task = at->second.last_task;
    wait.origin_start = at->second.joined;
  }
  if (--at->second.left == 0) calls_.erase(at);
}

void WaitRecorder::deliver(ClassId c, const CommunicationListener::Delivery& message) {
  TaskWait& wait = of(c, message.task);
  wait.origin = message.sender;
  const bool known = message.iteration == iteration_[message.sender.index()];
  wait.origin_task = known ? message.sent : kNoTask;
  wait.origin_start = known ? of(message.sender, message.sent).start : TimePoint();
}

}  // namespace ringwright
