// The queue of one parameter server: pushes in the order of their arrival, and the threads that apply them.
#pragma once

#include <cstdint>
#include <deque>

#include "core/base/units.h"
#include "core/engine/engine.h"

namespace ringwright {

struct ServerFigures;
class ServedListener;

class ServerQueue {
 public:
  struct Request {
    std::uint32_t worker = 0;
    std::uint32_t bucket = 0;
  };

  ServerQueue(Engine& engine, ServedListener& listener, std::uint32_t number, std::int64_t threads)
      : engine_(engine), listener_(listener), number_(number), threads_(threads) {}

  void take(const Request& request, Duration time);
  void begin_counting();
  [[nodiscard]] ServerFigures figures(TimePoint counted_from) const;

 private:
  struct Waiting {
    Request request;
    Duration time;
  };
  void begin_next();
  void count_up();

  Engine& engine_;
  ServedListener& listener_;
  std::uint32_t number_;
  std::int64_t threads_;
  std::deque<Waiting> waiting_;
  std::int64_t at_work_ = 0;
  std::uint64_t longest_ = 0;
  Duration busy_;     // of all threads
  TimePoint since_;   // up to which it is counted
};

class ServedListener {
 public:
  virtual ~ServedListener() = default;
  virtual void on_served(std::uint32_t server, const ServerQueue::Request& request) = 0;
};

}  // namespace ringwright
