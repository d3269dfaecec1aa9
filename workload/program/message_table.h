// The messages of a task graph, each once.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "core/plan/task_graph.h"
#include "workload/program/recent_rows.h"

namespace ringwright::workload {

class MessageTable {
 public:
  [[nodiscard]] std::uint32_t number_of(const MessageSpec& spec);
  [[nodiscard]] std::vector<MessageSpec> take() { return std::move(messages_); }

 private:
  using Key = std::tuple<int, bool, std::int64_t, std::uint8_t, std::uint8_t, DmaPath, MovedBy, Importance>;
  std::vector<MessageSpec> messages_;
  std::map<Key, std::uint32_t> number_of_;
  RecentRows recent_;
};

}  // namespace ringwright::workload
