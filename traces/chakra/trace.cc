#include "traces/chakra/trace.h"

#include <array>

#include <fmt/format.h>

namespace ringwright::traces {
namespace {

constexpr std::array<std::string_view, kChakraKinds> kKindNames = {"INVALID", "METADATA",  "MEM_LOAD",  "MEM_STORE",
                                                                   "COMP",    "COMM_SEND", "COMM_RECV", "COMM_COLL"};
constexpr std::array<std::string_view, kChakraCollectives> kChakraCollectiveNames = {
    "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
    "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};

}  // namespace

std::string_view to_string(ChakraKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(ChakraCollective collective) {
  return kChakraCollectiveNames[static_cast<std::size_t>(collective)];
}

std::string describe(const ChakraTrace& trace, const ChakraNode& node) {
  return describe_node(node.id, trace.name_of(node));
}

std::string describe_node(std::uint64_t id, std::string_view name) {
  constexpr std::size_t kLongest = 60;
  if (name.empty()) return fmt::format("node {}", id);
  return fmt::format("node {} ('{}{}')", id, name.substr(0, kLongest), name.size() > kLongest ? "..." : "");
}

}  // namespace ringwright::traces
