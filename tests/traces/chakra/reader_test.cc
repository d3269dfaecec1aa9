#include "traces/chakra/reader.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <schemas/traces/chakra/chakra.pb.h>
#include <zlib.h>

#include "tests/support/own_folder.h"

namespace ringwright::traces::reader_test {
namespace {

namespace pb = schemas::chakra;

std::string framed(const std::string& message) {
  std::string text;
  for (std::size_t rest = message.size();; rest >>= 7U) {
    text += static_cast<char>((rest & 0x7FU) | (rest > 0x7FU ? 0x80U : 0U));
    if (rest <= 0x7FU) break;
  }
  return text + message;
}

std::string head() {
  pb::GlobalMetadata head;
  head.set_version("0.0.4");
  pb::Attribute* schema = head.add_attributes();
  schema->set_name("schema");
  schema->set_string_value("1.0.2-chakra.0.0.4");
  return framed(head.SerializeAsString());
}

pb::Node node(std::uint64_t id, const std::string& name, pb::NodeType type) {
  pb::Node node;
  node.set_id(id);
  node.set_name(name);
  node.set_type(type);
  return node;
}

pb::Attribute* attribute(pb::Node& node, const std::string& name) {
  pb::Attribute* added = node.add_attributes();
  added->set_name(name);
  return added;
}

std::string text_of(const Diagnostics& diagnostics) {
  return render(diagnostics, 1000);
}

class ChakraFiles : public testing::Test {
 protected:
  Result<ChakraReading> read(const std::string& content, const ChakraReadOptions& options = {}) {
    std::ofstream(path_, std::ios::binary) << content;
    return read_chakra(path_.string(), options);
  }
  Result<ChakraReading> read(const pb::Node& node) { return read(head() + framed(node.SerializeAsString())); }
  std::string error_of(const std::string& content) {
    const auto reading = read(content);
    return reading ? "no error" : text_of(reading.error());
  }
  std::string error_of(const pb::Node& node) { return error_of(head() + framed(node.SerializeAsString())); }
  [[nodiscard]] std::string path() const { return path_.string(); }
  void SetUp() override { std::filesystem::create_directories(path_.parent_path()); }
  void TearDown() override { std::filesystem::remove_all(path_.parent_path()); }

 private:
  std::filesystem::path path_ = std::filesystem::path(test::own_folder()) / "t.0.et";
};

TEST_F(ChakraFiles, ANodeHasItsFieldsAndDependencies) {
  pb::Node gemm = node(7, "gemm", pb::COMP);
  gemm.add_control_dependencies(3);
  gemm.add_data_dependencies(5);
  gemm.add_data_dependencies(6);
  gemm.set_start_time_micros(11);
  gemm.set_duration_micros(12);
  const ChakraTrace trace = read(gemm).value().trace;
  ASSERT_EQ(trace.nodes.size(), 1U);
  const ChakraNode& read_node = trace.nodes[0];
  EXPECT_EQ(read_node.id, 7U);
  EXPECT_EQ(trace.name_of(read_node), "gemm");
  EXPECT_EQ(read_node.kind, ChakraKind::kCompute);
  EXPECT_EQ(read_node.start_micros, 11U);
  EXPECT_EQ(read_node.duration_micros, 12U);
  EXPECT_THAT(trace.control_of(read_node), testing::ElementsAre(3U));
  EXPECT_THAT(trace.data_of(read_node), testing::ElementsAre(5U, 6U));
  EXPECT_THAT(trace.dependencies_of(read_node), testing::ElementsAre(3U, 5U, 6U));
}

TEST_F(ChakraFiles, TheHeadGivesVersionAndFacts) {
  const ChakraTrace trace = read(node(1, "a", pb::COMP)).value().trace;
  EXPECT_EQ(trace.version, "0.0.4");
  EXPECT_EQ(trace.facts.at("schema"), "1.0.2-chakra.0.0.4");
}

TEST_F(ChakraFiles, AttributesOfCommunicationAreTyped) {
  pb::Node sum = node(1, "sum", pb::COMM_COLL);
  attribute(sum, "comm_type")->set_int64_value(7);
  attribute(sum, "comm_size")->set_int64_value(4096);
  attribute(sum, "pg_name")->set_string_value("3");
  attribute(sum, "comm_priority")->set_int32_value(-2);
  pb::Attribute* dims = attribute(sum, "involved_dim");
  dims->mutable_bool_list()->add_values(true);
  dims->mutable_bool_list()->add_values(false);
  const ChakraTrace trace = read(sum).value().trace;
  const ChakraAttributes& given = trace.of(trace.nodes[0]);
  EXPECT_EQ(given.comm_type, ChakraCollective::kReduceScatter);
  EXPECT_EQ(given.comm_size, Bytes(4096));
  EXPECT_EQ(trace.group_of(trace.nodes[0]), "3");
  EXPECT_EQ(given.comm_priority, -2);
  EXPECT_EQ(given.involved_dim, (std::vector<bool>{true, false}));
}

TEST_F(ChakraFiles, AnAttributeThatIsNotGivenIsEmptyNotADefault) {
  const ChakraTrace trace = read(node(1, "sum", pb::COMM_COLL)).value().trace;
  EXPECT_EQ(trace.of(trace.nodes[0]), ChakraAttributes());
}

// Writers choose different arms: each of these means 1, or true.
TEST_F(ChakraFiles, EveryArmThatConvertsExactlyIsAccepted) {
  const std::vector<void (*)(pb::Attribute&)> ones = {
      [](pb::Attribute& a) { a.set_int32_value(1); },    [](pb::Attribute& a) { a.set_int64_value(1); },
      [](pb::Attribute& a) { a.set_uint32_value(1); },   [](pb::Attribute& a) { a.set_uint64_value(1); },
      [](pb::Attribute& a) { a.set_sint32_value(1); },   [](pb::Attribute& a) { a.set_sint64_value(1); },
      [](pb::Attribute& a) { a.set_fixed32_value(1); },  [](pb::Attribute& a) { a.set_fixed64_value(1); },
      [](pb::Attribute& a) { a.set_sfixed32_value(1); }, [](pb::Attribute& a) { a.set_sfixed64_value(1); },
      [](pb::Attribute& a) { a.set_bool_value(true); },  [](pb::Attribute& a) { a.set_double_value(1.0); },
      [](pb::Attribute& a) { a.set_float_value(1.0); }};
  for (const auto& set_one : ones) {
    pb::Node sum = node(1, "sum", pb::COMM_COLL);
    set_one(*attribute(sum, "comm_size"));
    set_one(*attribute(sum, "is_cpu_op"));
    const auto reading = read(sum);
    ASSERT_TRUE(reading) << text_of(reading.error());
    const ChakraTrace& trace = reading->trace;
    EXPECT_EQ(trace.of(trace.nodes[0]).comm_size, Bytes(1));
    EXPECT_EQ(trace.of(trace.nodes[0]).is_cpu_op, true);
  }
}

TEST_F(ChakraFiles, AWrongArmIsAnErrorThatNamesNodeAndAttribute) {
  pb::Node sum = node(12, "sum", pb::COMM_COLL);
  attribute(sum, "comm_size")->set_string_value("1MiB");
  EXPECT_THAT(error_of(sum), testing::HasSubstr("node 12 ('sum'): attribute 'comm_size' is a text (1MiB); a whole "
                                                "number of at least 0 is needed"));
}

TEST_F(ChakraFiles, WhatDoesNotConvertExactlyIsAnError) {
  pb::Node sum = node(12, "sum", pb::COMM_COLL);
  attribute(sum, "comm_size")->set_double_value(1.5);
  attribute(sum, "comm_tag")->set_uint64_value(~0ULL);
  attribute(sum, "is_cpu_op")->set_int32_value(2);
  attribute(sum, "comm_type")->set_int32_value(10);
  attribute(sum, "tensor_size")->set_int64_value(-1);
  attribute(sum, "num_ops");
  const std::string errors = error_of(sum);
  for (const char* name : {"comm_size", "comm_tag", "is_cpu_op", "comm_type", "tensor_size", "num_ops"}) {
    EXPECT_THAT(errors, testing::HasSubstr(fmt::format("attribute '{}'", name)));
  }
}

TEST_F(ChakraFiles, OtherAttributesAreCountedByName) {
  pb::Node first = node(1, "a", pb::COMP);
  attribute(first, "rf_id")->set_int64_value(4);
  pb::Node second = node(2, "b", pb::COMP);
  attribute(second, "rf_id")->set_string_value("any type");
  const ChakraTrace trace =
      read(head() + framed(first.SerializeAsString()) + framed(second.SerializeAsString())).value().trace;
  EXPECT_THAT(trace.other_attributes, testing::ElementsAre(testing::Pair("rf_id", 2U)));
}

TEST_F(ChakraFiles, EqualAttributesAndNamesAreStoredOnce) {
  std::string content = head();
  for (std::uint64_t id = 1; id <= 3; ++id) {
    pb::Node gemm = node(id, "gemm", pb::COMP);
    attribute(gemm, "is_cpu_op")->set_bool_value(false);
    content += framed(gemm.SerializeAsString());
  }
  const ChakraTrace trace = read(content).value().trace;
  EXPECT_EQ(trace.nodes.size(), 3U);
  EXPECT_EQ(trace.attributes.size(), 2U);  // the empty one, and this one
  EXPECT_THAT(trace.texts, testing::ElementsAre("", "gemm"));
}

TEST_F(ChakraFiles, InputsAreKeptOfMetadataAndOnRequest) {
  pb::Node gemm = node(1, "gemm", pb::COMP);
  gemm.mutable_inputs()->set_values("[1]");
  pb::Node groups = node(2, std::string(kGroupsNodeName), pb::METADATA);
  groups.mutable_inputs()->set_values("[2]");
  const std::string content = head() + framed(gemm.SerializeAsString()) + framed(groups.SerializeAsString());
  const ChakraTrace without = read(content).value().trace;
  EXPECT_FALSE(without.inputs_outputs.contains(0));
  EXPECT_EQ(without.inputs_outputs.at(1).inputs.values, "[2]");
  EXPECT_EQ(read(content, {.tensors = KeepTensors::kYes}).value().trace.inputs_outputs.at(0).inputs.values, "[1]");
}

TEST_F(ChakraFiles, ATruncatedFileIsAnErrorWithItsByte) {
  const std::string content = head() + framed(node(1, "gemm", pb::COMP).SerializeAsString());
  const std::string error = error_of(content.substr(0, content.size() - 2));
  EXPECT_THAT(error, testing::HasSubstr(fmt::format("at byte {}: the file ends after", head().size())));
}

TEST_F(ChakraFiles, ATruncatedGzipFileIsNamedAsSuch) {
  const std::string content = head() + framed(node(1, std::string(5'000, 'n'), pb::COMP).SerializeAsString());
  gzFile out = gzopen(path().c_str(), "wb");
  gzwrite(out, content.data(), static_cast<unsigned>(content.size()));
  gzclose(out);
  std::filesystem::resize_file(path(), std::filesystem::file_size(path()) - 12);
  const auto reading = read_chakra(path());
  ASSERT_FALSE(reading.has_value());
  EXPECT_THAT(text_of(reading.error()), testing::HasSubstr("(the file ends early)"));
}

TEST_F(ChakraFiles, AClaimedLengthDoesNotTakeMemory) {
  EXPECT_THAT(error_of(head() + "\xff\xff\xff\xff\x0f"), testing::HasSubstr("a record of 4294967295 bytes"));
  EXPECT_THAT(error_of(head() + "\xff\xff\xff\xff\xff\x01"), testing::HasSubstr("more than 5 bytes"));
  EXPECT_THAT(error_of(head() + "\x80"), testing::HasSubstr("ends within the length"));
}

TEST_F(ChakraFiles, OtherFilesAreRefused) {
  EXPECT_THAT(error_of(""), testing::HasSubstr("the file is empty"));
  EXPECT_THAT(error_of(head()), testing::HasSubstr("the trace has no nodes"));
  EXPECT_THAT(error_of(framed(node(1, "gemm", pb::COMP).SerializeAsString())),
              testing::HasSubstr("the first record is not the head"));
  EXPECT_THAT(error_of(head() + std::string(1, '\0')), testing::HasSubstr("the record is empty"));
  EXPECT_THAT(error_of(head() + framed("\xff\xff")), testing::HasSubstr("is no node of a trace"));
}

TEST_F(ChakraFiles, AnUnknownKindOfNodeIsAnError) {
  EXPECT_THAT(error_of(node(1, "gemm", static_cast<pb::NodeType>(9))), testing::HasSubstr("has type 9"));
}

TEST_F(ChakraFiles, FieldsOfAnotherVersionAreAWarning) {
  const std::string unknown_field_99 = "\x98\x06\x01";
  const auto reading = read(head() + framed(node(1, "gemm", pb::COMP).SerializeAsString() + unknown_field_99));
  EXPECT_THAT(text_of(reading.value().warnings),
              testing::HasSubstr("fields of another version of the format are ignored: of 1 nodes"));
}

TEST_F(ChakraFiles, ANameInAnotherEncodingIsRead) {
  EXPECT_EQ(read(node(1, "gr\xfc\xdf", pb::COMP)).value().trace.texts[1], "gr\xfc\xdf");
}

TEST_F(ChakraFiles, TheJsonFormHasTheSameMeaning) {
  const ChakraTrace trace = read(R"({"workload_graph": [
      {"Id": 435, "Name": "sum", "NodeType": 7, "ctrlDeps": [434], "data_deps": [432, 216], "runtime": 28,
       "is_cpu_op": false, "comm_type": 0, "comm_size": 64, "rank": 3}],
      "workload_name": "dlrm", "ngpus": 8})")
                                .value()
                                .trace;
  ASSERT_EQ(trace.nodes.size(), 1U);
  const ChakraNode& sum = trace.nodes[0];
  EXPECT_EQ(sum.id, 435U);
  EXPECT_EQ(sum.kind, ChakraKind::kCollective);
  EXPECT_EQ(sum.duration_micros, 28U);
  EXPECT_THAT(trace.control_of(sum), testing::ElementsAre(434U));
  EXPECT_THAT(trace.data_of(sum), testing::ElementsAre(432U, 216U));
  EXPECT_EQ(trace.of(sum).is_cpu_op, false);
  EXPECT_EQ(trace.of(sum).comm_type, ChakraCollective::kAllReduce);
  EXPECT_EQ(trace.of(sum).comm_size, Bytes(64));
  EXPECT_THAT(trace.other_attributes, testing::ElementsAre(testing::Pair("rank", 1U)));
  EXPECT_EQ(trace.facts.at("ngpus"), "8");
}

TEST_F(ChakraFiles, MistakesOfTheJsonFormAreAllNamed) {
  const std::string errors = error_of(R"({"workload_graph": [
      {"Id": 1, "Name": 5, "NodeType": 4},
      {"Id": 2, "NodeType": 40, "data_deps": 3},
      {"Name": "a", "NodeType": 4, "runtime": -3},
      {"Id": 4, "NodeType": 7, "comm_size": "big"},
      {"Id": 5, "NodeType": 4, "attr": [{"name": "is_cpu_op", "bool_val": true}]}]})");
  EXPECT_THAT(errors, testing::HasSubstr("node 1: 'Name' must be a text"));
  EXPECT_THAT(errors, testing::HasSubstr("node 2: 'NodeType' is 40"));
  EXPECT_THAT(errors, testing::HasSubstr("node 2: 'data_deps' must be a list of node ids"));
  EXPECT_THAT(errors, testing::HasSubstr("workload_graph[2]: it has no 'Id'"));
  EXPECT_THAT(errors, testing::HasSubstr("workload_graph[2]: 'runtime' must be a whole number of at least 0"));
  EXPECT_THAT(errors, testing::HasSubstr("node 4: attribute 'comm_size' is a text (big)"));
  EXPECT_THAT(errors, testing::HasSubstr("node 5: 'attr' must be left out: attributes are members of the node"));
}

TEST_F(ChakraFiles, BrokenJsonIsAnErrorWithItsByte) {
  EXPECT_THAT(error_of(R"({"workload_graph": [{"Id": 1, "NodeType": 4},)"), testing::HasSubstr("E245"));
  EXPECT_THAT(error_of(R"({"workload_graph": [{"Id": 1, "Na)"), testing::HasSubstr("E245"));
  EXPECT_THAT(error_of(R"({"workload_graph": 3})"), testing::HasSubstr("the JSON cannot be read"));
}

TEST_F(ChakraFiles, WhatIsGivenTwiceIsAnErrorWhereTheValuesDiffer) {
  pb::Node sum = node(1, "sum", pb::COMM_COLL);
  attribute(sum, "comm_size")->set_int64_value(64);
  attribute(sum, "comm_size")->set_uint64_value(64);
  EXPECT_EQ(read(sum).value().trace.of(read(sum).value().trace.nodes[0]).comm_size, Bytes(64));
  attribute(sum, "comm_size")->set_int64_value(128);
  EXPECT_THAT(error_of(sum), testing::HasSubstr("attribute 'comm_size' is given twice, with different values"));
  EXPECT_THAT(error_of(R"({"workload_graph": [{"Id": 1, "NodeType": 4, "runtime": 5, "runtime": 6}]})"),
              testing::HasSubstr("node 1: 'runtime' is given again"));
  EXPECT_THAT(error_of(R"({"workload_graph": [{"Id": 1, "NodeType": 4, "runtime": 5, "duration_micros": 6}]})"),
              testing::HasSubstr("node 1: 'duration_micros' is given again"));
  EXPECT_THAT(error_of(R"({"workload_graph": [{"Id": 1, "NodeType": 4, "num_ops": 5, "num_ops": 6}]})"),
              testing::HasSubstr("attribute 'num_ops' is given twice"));
}

TEST_F(ChakraFiles, JsonAfterTheTraceIsAnError) {
  const std::string trace = R"({"workload_graph": [{"Id": 1, "NodeType": 4}]})";
  EXPECT_EQ(error_of(trace + "\n"), "no error");
  EXPECT_THAT(error_of(trace + trace), testing::HasSubstr("the JSON goes on after its end"));
}

}  // namespace
}  // namespace ringwright::traces::reader_test
