// The tables of a task graph while it is built: distinct works, collectives, messages and labels, each once, so that a
// graph of many microbatches stays small.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/plan/task_graph.h"

namespace ringwright::workload {

using SectionId = std::uint32_t;  // a sequence of kernels that is always launched together

class GraphTables {
 public:
  [[nodiscard]] SectionId add_section(std::vector<Kernel> kernels);
  // The concatenated sections; kernels that occur several times are one entry with that many launches.
  [[nodiscard]] std::uint32_t work(const std::vector<SectionId>& sections, const std::string& name);
  [[nodiscard]] std::uint32_t collective(const CollectiveSpec& spec);
  [[nodiscard]] std::uint32_t message(const MessageSpec& spec);
  [[nodiscard]] std::uint32_t label(std::string_view text);
  [[nodiscard]] std::uint32_t segment(Segment segment);
  [[nodiscard]] const Segment& segment_at(std::uint32_t number) const { return segments_[number]; }
  [[nodiscard]] bool has_kernels(SectionId section) const { return !sections_[section].empty(); }

  // Finishes the tables.
  void move_into(TaskGraph& graph);

 private:
  std::vector<std::vector<Kernel>> sections_;
  std::vector<Work> works_;
  std::vector<CollectiveSpec> collectives_;
  std::vector<MessageSpec> messages_;
  std::vector<Segment> segments_;
  std::vector<std::string> labels_;
  std::map<std::vector<SectionId>, std::uint32_t> work_of_;
  std::map<std::pair<CollectiveKind, std::int64_t>, std::uint32_t> collective_of_;
  std::map<std::tuple<int, bool, std::int64_t, std::uint8_t, std::uint8_t, DmaPath, MovedBy>, std::uint32_t>
      message_of_;
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> label_of_;
  // The most recent lookups: a program repeats the same names.
  static constexpr std::size_t kRecent = 4;
  std::array<std::uint32_t, kRecent> recent_labels_{};
  std::array<std::uint32_t, kRecent> recent_messages_{};
  std::size_t next_label_ = 0;
  std::size_t next_message_ = 0;
};

}  // namespace ringwright::workload
