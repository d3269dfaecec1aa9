#include "traces/chakra/trace_identity.h"

#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace ringwright::traces {
namespace {

// Everything is a number of eight bytes, or a text after its length, so that no two traces give the same bytes.
class IdentityWriter {
 public:
  explicit IdentityWriter(std::size_t expected) { bytes_.reserve(expected); }

  void add(std::span<const std::uint64_t> numbers) {
    if (numbers.empty()) return;
    const std::size_t before = bytes_.size();
    bytes_.resize(before + numbers.size_bytes());
    std::memcpy(bytes_.data() + before, numbers.data(), numbers.size_bytes());
  }
  void add(std::uint64_t number) { add(std::span(&number, 1)); }
  void add(std::string_view text) {
    add(text.size());
    bytes_ += text;
  }

  void add(const std::optional<bool>& value) { add_given(value, [](bool flag) { return flag ? 1U : 0U; }); }
  void add(const std::optional<TextIndex>& value) { add_given(value, [](TextIndex index) { return index; }); }
  void add(const std::optional<ChakraCollective>& value) {
    add_given(value, [](ChakraCollective kind) { return static_cast<std::uint64_t>(kind); });
  }
  void add(const std::optional<std::int64_t>& value) {
    add_given(value, [](std::int64_t number) { return static_cast<std::uint64_t>(number); });
  }
  template <class Quantity>
    requires requires(Quantity quantity) { { quantity.count() } -> std::convertible_to<std::int64_t>; }
  void add(const std::optional<Quantity>& value) {
    add_given(value, [](Quantity quantity) { return static_cast<std::uint64_t>(quantity.count()); });
  }
  void add(const std::optional<std::vector<bool>>& value) {
    add_given(value, [](const std::vector<bool>& flags) { return flags.size(); });
    if (!value) return;
    for (const bool flag : *value) add(flag ? 1U : 0U);
  }

  [[nodiscard]] std::string take() && { return std::move(bytes_); }

 private:
  template <class Value, class Number>
  void add_given(const std::optional<Value>& value, Number number) {
    add(std::uint64_t{value ? 1U : 0U});
    if (value) add(std::uint64_t{number(*value)});
  }

  std::string bytes_;
};

void add_attributes(const ChakraAttributes& of, IdentityWriter& to) {
  to.add(of.is_cpu_op);
  to.add(of.comm_type);
  to.add(of.comm_size);
  to.add(of.comm_src);
  to.add(of.comm_dst);
  to.add(of.comm_tag);
  to.add(of.comm_priority);
  to.add(of.pg_name);
  to.add(of.involved_dim);
  to.add(of.num_ops);
  to.add(of.tensor_size);
  to.add(of.tensor_loc);
  to.add(of.stream);
  to.add(of.buffer_bytes);
  to.add(of.duration_picos);
}

}  // namespace

std::string trace_identity(const ChakraTrace& trace) {
  constexpr std::size_t kNodeNumbers = 6;
  IdentityWriter writer((trace.nodes.size() * kNodeNumbers + trace.dependencies.size()) * sizeof(std::uint64_t));
  writer.add(trace.version);
  writer.add(trace.facts.size());
  for (const auto& [name, value] : trace.facts) {
    writer.add(name);
    writer.add(value);
  }
  writer.add(trace.texts.size());
  for (const std::string& text : trace.texts) writer.add(text);
  writer.add(trace.attributes.size());
  for (const ChakraAttributes& attributes : trace.attributes) add_attributes(attributes, writer);
  writer.add(trace.nodes.size());
  for (const ChakraNode& node : trace.nodes) {
    const std::array<std::uint64_t, kNodeNumbers> numbers = {
        node.id,
        node.start_micros,
        node.duration_micros,
        std::uint64_t{node.control_dependencies} << 32U | node.data_dependencies,
        std::uint64_t{node.attributes} << 32U | node.name,
        static_cast<std::uint64_t>(node.kind)};
    writer.add(numbers);
  }
  writer.add(trace.dependencies.size());
  writer.add(trace.dependencies);
  writer.add(trace.inputs_outputs.size());
  for (const auto& [at, tensors] : trace.inputs_outputs) {
    writer.add(at);
    for (const ChakraTensors& of : {tensors.inputs, tensors.outputs}) {
      for (const std::string& text : {of.values, of.shapes, of.types}) writer.add(text);
    }
  }
  return std::move(writer).take();
}

}  // namespace ringwright::traces
