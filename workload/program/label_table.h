// The labels of a task graph, each once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "workload/program/recent_rows.h"

namespace ringwright::workload {

class LabelTable {
 public:
  [[nodiscard]] std::uint32_t number_of(std::string_view text);
  [[nodiscard]] std::vector<std::string> take() { return std::move(labels_); }

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::vector<std::string> labels_;
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> number_of_;
  RecentRows recent_;
};

}  // namespace ringwright::workload
