#include "traces/chakra/record_reader.h"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <schemas/traces/chakra/chakra.pb.h>

#include "traces/chakra/attribute.h"
#include "traces/chakra/problem_list.h"
#include "traces/chakra/record_stream.h"
#include "traces/chakra/trace_builder.h"
#include "traces/chakra/wire_fields.h"

namespace ringwright::traces {
namespace {

namespace chakra = schemas::chakra;
using Arm = chakra::Attribute;

constexpr std::array kHeadFields = {WireField{1, WireType::kLength}, WireField{2, WireType::kLength}};
// Dependencies are packed by most writers.
constexpr std::array kNodeFields = {
    WireField{1, WireType::kVarint}, WireField{2, WireType::kLength}, WireField{3, WireType::kVarint},
    WireField{4, WireType::kLength}, WireField{4, WireType::kVarint}, WireField{5, WireType::kLength},
    WireField{5, WireType::kVarint}, WireField{6, WireType::kVarint}, WireField{7, WireType::kVarint},
    WireField{8, WireType::kLength}, WireField{9, WireType::kLength}, WireField{10, WireType::kLength}};

ChakraValue value_of(const chakra::Attribute& attribute) {
  switch (attribute.value_case()) {
    case Arm::VALUE_NOT_SET: return std::monostate();
    case Arm::kDoubleValue: return attribute.double_value();
    case Arm::kFloatValue: return static_cast<double>(attribute.float_value());
    case Arm::kInt32Value: return std::int64_t{attribute.int32_value()};
    case Arm::kInt64Value: return attribute.int64_value();
    case Arm::kUint32Value: return std::uint64_t{attribute.uint32_value()};
    case Arm::kUint64Value: return attribute.uint64_value();
    case Arm::kSint32Value: return std::int64_t{attribute.sint32_value()};
    case Arm::kSint64Value: return attribute.sint64_value();
    case Arm::kFixed32Value: return std::uint64_t{attribute.fixed32_value()};
    case Arm::kFixed64Value: return std::uint64_t{attribute.fixed64_value()};
    case Arm::kSfixed32Value: return std::int64_t{attribute.sfixed32_value()};
    case Arm::kSfixed64Value: return std::int64_t{attribute.sfixed64_value()};
    case Arm::kBoolValue: return attribute.bool_value();
    case Arm::kStringValue: return std::string_view(attribute.string_value());
    case Arm::kBytesValue: return std::string_view(attribute.bytes_value());
    case Arm::kBoolList:
      return std::vector<bool>(attribute.bool_list().values().begin(), attribute.bool_list().values().end());
    case Arm::kStringList:
    case Arm::kBytesList: return OtherList{"a list of texts"};
    case Arm::kDoubleList:
    case Arm::kFloatList:
    case Arm::kInt32List:
    case Arm::kInt64List:
    case Arm::kUint32List:
    case Arm::kUint64List:
    case Arm::kSint32List:
    case Arm::kSint64List:
    case Arm::kFixed32List:
    case Arm::kFixed64List:
    case Arm::kSfixed32List:
    case Arm::kSfixed64List: return OtherList{"a list of numbers"};
  }
  return std::monostate();
}

// Empty when the record is a file's head. A node is none: its first field is a number, not a text.
std::string why_no_head(std::string_view record, chakra::GlobalMetadata& head) {
  if (!head.ParseFromArray(record.data(), static_cast<int>(record.size()))) return "it is no Protocol Buffers message";
  return has_only(record, kHeadFields) ? "" : "it has fields that the head of a Chakra trace has not";
}

ChakraTensors tensors_of(const chakra::IOInfo& info) {
  return {.values = info.values(), .shapes = info.shapes(), .types = info.types()};
}

class RecordReader {
 public:
  RecordReader(const std::string& path, const ChakraReadOptions& options)
      : options_(options), builder_(path), problems_(path) {}

  [[nodiscard]] Result<ChakraReading> read(RecordStream records) {
    read_head(records);
    while (!problems_.is_full() && !broken_ && next(records)) read_node(records);
    if (problems_.has_errors()) return tl::unexpected(std::move(problems_).take());
    if (builder_.trace().nodes.empty()) {
      problems_.error("E245", "the trace has no nodes");
      return tl::unexpected(std::move(problems_).take());
    }
    if (unknown_ > 0) {
      problems_.warning("W245",
                        fmt::format("fields of another version of the format are ignored: of {} nodes", unknown_));
    }
    return ChakraReading{.trace = std::move(builder_).take(), .warnings = std::move(problems_).take()};
  }

 private:
  bool next(RecordStream& records) {
    const auto more = records.next();
    if (more) return *more;
    broken_ = true;
    problems_.error("E245", more.error());
    return false;
  }

  void read_head(RecordStream& records) {
    chakra::GlobalMetadata head;
    if (!next(records)) {
      if (!broken_) problems_.error("E245", "the file is empty");
      broken_ = true;
      return;
    }
    if (const std::string why = why_no_head(records.record(), head); !why.empty()) {
      problems_.error("E245", "the first record is not the head of a Chakra trace: " + why,
                      "a trace in Chakra's binary form (.et), its JSON form, or one of them as gzip");
      broken_ = true;
      return;
    }
    builder_.trace().version = head.version();
    for (const chakra::Attribute& attribute : head.attributes()) {
      builder_.trace().facts[attribute.name()] = to_string(value_of(attribute));
    }
  }

  void read_node(const RecordStream& records) {
    const std::string_view record = records.record();
    const std::uint64_t offset = records.offset();
    if (record.empty()) {
      problems_.error("E245", fmt::format("at byte {}: the record is empty", offset));
      return;
    }
    if (!node_.ParseFromArray(record.data(), static_cast<int>(record.size()))) {
      problems_.error("E245",
                      fmt::format("at byte {}: the record of {} bytes is no node of a trace", offset, record.size()));
      broken_ = true;  // the rest is as foreign
      return;
    }
    if (!has_only(record, kNodeFields)) ++unknown_;
    if (node_.type() < 0 || node_.type() >= static_cast<int>(kChakraKinds)) {
      problems_.error("E245", fmt::format("{} has type {}; known are 0 to {}", node_at(offset),
                                          static_cast<int>(node_.type()), kChakraKinds - 1));
      return;
    }
    add_node(offset);
    if (!is_too_large()) return;
    problems_.error("E245", "the trace has more than 2^31 nodes or dependencies");
    broken_ = true;
  }

  // Positions are 32-bit numbers.
  [[nodiscard]] bool is_too_large() {
    constexpr std::size_t kMost = std::size_t{1} << 31U;
    const ChakraTrace& trace = builder_.trace();
    return trace.nodes.size() >= kMost || trace.dependencies.size() >= kMost;
  }

  // Of the record that starts there, for messages.
  [[nodiscard]] std::string node_at(std::uint64_t offset) const {
    return fmt::format("at byte {}: {}", offset, describe_node(node_.id(), node_.name()));
  }

  void add_node(std::uint64_t offset) {
    ChakraAttributes attributes;
    for (const chakra::Attribute& attribute : node_.attributes()) {
      const std::string wrong = set_attribute(attribute.name(), value_of(attribute), builder_, attributes);
      if (!wrong.empty()) problems_.error("E246", fmt::format("{}: {}", node_at(offset), wrong));
    }
    const auto kind = static_cast<ChakraKind>(node_.type());
    builder_.add({.id = node_.id(),
                  .name = node_.name(),
                  .kind = kind,
                  .control_dependencies = std::span(node_.control_dependencies().data(),
                                                    static_cast<std::size_t>(node_.control_dependencies_size())),
                  .data_dependencies = std::span(node_.data_dependencies().data(),
                                                 static_cast<std::size_t>(node_.data_dependencies_size())),
                  .start_micros = node_.start_time_micros(),
                  .duration_micros = node_.duration_micros(),
                  .attributes = &attributes});
    const bool keep = options_.tensors == KeepTensors::kYes || kind == ChakraKind::kMetadata;
    if (keep && (node_.has_inputs() || node_.has_outputs())) {
      ChakraTrace& trace = builder_.trace();
      trace.inputs_outputs[trace.nodes.size() - 1] = {.inputs = tensors_of(node_.inputs()),
                                                      .outputs = tensors_of(node_.outputs())};
    }
  }

  ChakraReadOptions options_;
  ChakraTraceBuilder builder_;
  ProblemList problems_;
  chakra::Node node_;  // reused: its parts keep their memory
  std::uint64_t unknown_ = 0;
  bool broken_ = false;
};

}  // namespace

Result<ChakraReading> read_chakra_records(const std::string& path, const ChakraReadOptions& options) {
  auto bytes = ByteStream::open(path);
  if (!bytes) return tl::unexpected(failure("E245", "cannot read the trace: " + bytes.error(), {.file = path}));
  return RecordReader(path, options).read(RecordStream(std::move(*bytes)));
}

bool looks_like_chakra_records(std::string_view beginning) {
  // A length, then the fields of the head up to its end, or up to the end of what there is.
  std::uint64_t length = 0;
  std::size_t at = 0;
  for (unsigned shift = 0; at < beginning.size() && shift <= 28; shift += 7) {
    const auto byte = static_cast<unsigned char>(beginning[at++]);
    length |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0) break;
  }
  const std::string_view rest = beginning.substr(at);
  if (rest.empty()) return false;
  constexpr std::uint64_t kLongestHead = 1U << 20U;
  if (length > kLongestHead) return false;
  if (length > rest.size()) return rest[0] == '\x0a' || rest[0] == '\x12';
  chakra::GlobalMetadata head;
  return why_no_head(rest.substr(0, length), head).empty();
}

}  // namespace ringwright::traces
