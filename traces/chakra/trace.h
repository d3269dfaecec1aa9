// A Chakra execution trace: what one rank computes and communicates in a training step, as a graph of nodes.
//
// Plain data. Texts and equal sets of attributes are stored once, dependencies in one list, so that a node takes about
// 60 bytes. An attribute that the file does not give is empty here, never a default: the consumers' defaults differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"

namespace ringwright::traces {

// With the numbers of the format.
enum class ChakraKind : std::uint8_t {
  kInvalid = 0,
  kMetadata = 1,
  kMemoryLoad = 2,
  kMemoryStore = 3,
  kCompute = 4,
  kSend = 5,
  kReceive = 6,
  kCollective = 7,
};
inline constexpr std::size_t kChakraKinds = 8;
[[nodiscard]] std::string_view to_string(ChakraKind kind);  // the format's name: "COMM_COLL"

// The same.
enum class ChakraCollective : std::uint8_t {
  kAllReduce = 0,
  kReduce = 1,
  kAllGather = 2,
  kGather = 3,
  kScatter = 4,
  kBroadcast = 5,
  kAllToAll = 6,
  kReduceScatter = 7,
  kReduceScatterBlock = 8,
  kBarrier = 9,
};
inline constexpr std::size_t kChakraCollectives = 10;
[[nodiscard]] std::string_view to_string(ChakraCollective collective);  // "ALL_REDUCE"

using TextIndex = std::uint32_t;  // into ChakraTrace::texts

// The attributes with a meaning for a simulation. Empty: not given.
struct ChakraAttributes {
  std::optional<bool> is_cpu_op;
  std::optional<ChakraCollective> comm_type;
  std::optional<Bytes> comm_size;
  std::optional<std::int64_t> comm_src;
  std::optional<std::int64_t> comm_dst;
  std::optional<std::int64_t> comm_tag;
  std::optional<std::int64_t> comm_priority;
  std::optional<TextIndex> pg_name;
  std::optional<std::vector<bool>> involved_dim;
  std::optional<std::int64_t> num_ops;
  std::optional<Bytes> tensor_size;
  std::optional<std::int64_t> tensor_loc;
  std::optional<std::int64_t> stream;
  // Of an all-gather whose shards are not equal: the gathered output. Ringwright's own, as the next one.
  std::optional<Bytes> buffer_bytes;
  std::optional<Duration> duration_picos;  // of ringwright's own traces: exact, where the format has whole microseconds
  friend auto operator<=>(const ChakraAttributes&, const ChakraAttributes&) = default;
  friend bool operator==(const ChakraAttributes&, const ChakraAttributes&) = default;
};

struct ChakraNode {
  std::uint64_t id = 0;
  std::uint64_t start_micros = 0;
  std::uint64_t duration_micros = 0;
  std::uint64_t first_dependency = 0;  // into ChakraTrace::dependencies: those of control first
  std::uint32_t control_dependencies = 0;
  std::uint32_t data_dependencies = 0;
  std::uint32_t attributes = 0;  // into ChakraTrace::attributes
  TextIndex name = 0;
  ChakraKind kind = ChakraKind::kInvalid;
  friend bool operator==(const ChakraNode&, const ChakraNode&) = default;
};

// Inputs or outputs of a node, as the file writes them. Read on request only.
struct ChakraTensors {
  std::string values;
  std::string shapes;
  std::string types;
  friend bool operator==(const ChakraTensors&, const ChakraTensors&) = default;
};
struct ChakraInputsOutputs {
  ChakraTensors inputs;
  ChakraTensors outputs;
  friend bool operator==(const ChakraInputsOutputs&, const ChakraInputsOutputs&) = default;
};

struct ChakraTrace {
  std::string file;
  std::string version;                                    // "0.0.4"; some writers leave it empty
  std::map<std::string, std::string> facts;               // attributes of the file: "schema", "pid", ...
  std::vector<ChakraNode> nodes;                          // in the order of the file
  std::vector<std::uint64_t> dependencies;                // ids
  std::vector<ChakraAttributes> attributes;               // distinct; the first one is empty
  std::vector<std::string> texts;                         // distinct; the first one is empty
  std::map<std::string, std::uint64_t> other_attributes;  // names of all others, with the number of nodes
  // By position in `nodes`: of all nodes when asked for, else only of METADATA nodes, which may define groups.
  std::map<std::size_t, ChakraInputsOutputs> inputs_outputs;

  [[nodiscard]] const std::string& name_of(const ChakraNode& node) const { return texts[node.name]; }
  [[nodiscard]] const ChakraAttributes& of(const ChakraNode& node) const { return attributes[node.attributes]; }
  [[nodiscard]] std::span<const std::uint64_t> control_of(const ChakraNode& node) const {
    return std::span(dependencies).subspan(node.first_dependency, node.control_dependencies);
  }
  [[nodiscard]] std::span<const std::uint64_t> data_of(const ChakraNode& node) const {
    return std::span(dependencies).subspan(node.first_dependency + node.control_dependencies, node.data_dependencies);
  }
  // Of both kinds.
  [[nodiscard]] std::span<const std::uint64_t> dependencies_of(const ChakraNode& node) const {
    return std::span(dependencies)
        .subspan(node.first_dependency, std::size_t{node.control_dependencies} + node.data_dependencies);
  }
  // Empty: not given.
  [[nodiscard]] std::string_view group_of(const ChakraNode& node) const {
    const std::optional<TextIndex>& group = of(node).pg_name;
    return group ? std::string_view(texts[*group]) : std::string_view();
  }
};

// "node 12 ('c10d::allreduce_')", for messages.
[[nodiscard]] std::string describe(const ChakraTrace& trace, const ChakraNode& node);
[[nodiscard]] std::string describe_node(std::uint64_t id, std::string_view name);

}  // namespace ringwright::traces
