// Builds a trace node by node: equal texts and equal sets of attributes are stored once.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "traces/chakra/trace.h"

namespace ringwright::traces {

// A node by itself, before its parts are shared.
struct ChakraNodeParts {
  std::uint64_t id = 0;
  std::string_view name;
  ChakraKind kind = ChakraKind::kInvalid;
  std::span<const std::uint64_t> control_dependencies;
  std::span<const std::uint64_t> data_dependencies;
  std::uint64_t start_micros = 0;
  std::uint64_t duration_micros = 0;
  const ChakraAttributes* attributes = nullptr;  // null: none
};

class ChakraTraceBuilder {
 public:
  explicit ChakraTraceBuilder(std::string file);

  [[nodiscard]] TextIndex text(std::string_view text);
  void add(const ChakraNodeParts& parts);
  void count_other(std::string_view attribute);
  // To set what is not of a node, and the inputs and outputs of the last one.
  [[nodiscard]] ChakraTrace& trace() { return trace_; }
  [[nodiscard]] ChakraTrace take() && { return std::move(trace_); }

 private:
  ChakraTrace trace_;
  std::unordered_map<std::string, TextIndex> text_index_;
  std::map<ChakraAttributes, std::uint32_t> attributes_index_;
};

}  // namespace ringwright::traces
