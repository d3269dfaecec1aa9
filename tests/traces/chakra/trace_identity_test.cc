#include "traces/chakra/trace_identity.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "traces/chakra/trace_builder.h"

namespace ringwright::traces::trace_identity_test {
namespace {

using namespace literals;

struct Parts {
  ChakraNodeParts node = {.id = 7, .name = "sum", .kind = ChakraKind::kCollective, .duration_micros = 3};
  ChakraAttributes attributes = {.comm_type = ChakraCollective::kAllReduce, .comm_size = 64_KiB};
  std::vector<std::uint64_t> before = {1, 2};
  std::string group = "tp";
};

std::string identity(const Parts& parts) {
  ChakraTraceBuilder builder("file");
  builder.add({.id = 1, .name = "a", .kind = ChakraKind::kCompute});
  builder.add({.id = 2, .name = "b", .kind = ChakraKind::kCompute});
  ChakraNodeParts node = parts.node;
  ChakraAttributes attributes = parts.attributes;
  attributes.pg_name = builder.text(parts.group);
  node.attributes = &attributes;
  node.data_dependencies = parts.before;
  builder.add(node);
  return trace_identity(std::move(builder).take());
}

TEST(TraceIdentity, DiffersWithEverythingThatANodeHas) {
  const std::vector<std::function<void(Parts&)>> changes = {
      [](Parts& parts) { parts.node.id = 8; },
      [](Parts& parts) { parts.node.name = "sum2"; },
      [](Parts& parts) { parts.node.kind = ChakraKind::kCompute; },
      [](Parts& parts) { parts.node.duration_micros = 4; },
      [](Parts& parts) { parts.node.start_micros = 4; },
      [](Parts& parts) { parts.before = {1}; },
      [](Parts& parts) { parts.node.control_dependencies = parts.before; },
      [](Parts& parts) { parts.attributes.comm_size = 65_KiB; },
      [](Parts& parts) { parts.attributes.comm_type = ChakraCollective::kAllGather; },
      [](Parts& parts) { parts.attributes.stream = 0; },
      [](Parts& parts) { parts.attributes.is_cpu_op = false; },
      [](Parts& parts) { parts.attributes.involved_dim = std::vector<bool>{true, false}; },
      [](Parts& parts) { parts.attributes.duration_picos = 3_us; },
      [](Parts& parts) { parts.group = "dp"; }};
  std::vector<std::string> known = {identity({})};
  EXPECT_EQ(identity({}), known.front());
  for (const auto& change : changes) {
    Parts parts;
    change(parts);
    known.push_back(identity(parts));
    for (std::size_t other = 0; other + 1 < known.size(); ++other) EXPECT_NE(known[other], known.back()) << other;
  }
}

}  // namespace
}  // namespace ringwright::traces::trace_identity_test
