#include "traces/chakra/writer.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traces/chakra/trace_builder.h"
#include "tests/support/own_folder.h"

namespace ringwright::traces::writer_test {
namespace {

// One node with everything, and one with nothing but an id.
ChakraTrace sample() {
  ChakraTraceBuilder builder("step.0.et");
  builder.trace().version = kChakraVersion;
  builder.trace().facts["schema"] = "own";
  const std::vector<std::uint64_t> control{3};
  const std::vector<std::uint64_t> data{300, 7};
  ChakraAttributes all{.is_cpu_op = false,
                       .comm_type = ChakraCollective::kAllToAll,
                       .comm_size = Bytes(1'000'000'000'000),
                       .comm_src = 3,
                       .comm_dst = 4,
                       .comm_tag = std::int64_t{1} << 40U,  // beyond int32
                       .comm_priority = -5,
                       .pg_name = builder.text("tp"),
                       .involved_dim = std::vector<bool>{true, false},
                       .num_ops = 12,
                       .tensor_size = Bytes(77),
                       .tensor_loc = 2,
                       .stream = 20,
                       .buffer_bytes = Bytes(999),
                       .duration_picos = Duration(1'234'567)};
  builder.add({.id = 9,
               .name = "everything",
               .kind = ChakraKind::kCollective,
               .control_dependencies = control,
               .data_dependencies = data,
               .start_micros = 5,
               .duration_micros = 1,
               .attributes = &all});
  builder.trace().inputs_outputs[0] = {.inputs = {.values = "[1]", .shapes = "[[2]]", .types = "[\"Tensor(int)\"]"},
                                       .outputs = {.values = "[3]", .shapes = "", .types = ""}};
  builder.add({.id = 10, .kind = ChakraKind::kCompute});
  return std::move(builder).take();
}

class ChakraWriting : public testing::Test {
 protected:
  void write(const std::vector<TraceFile>& files) {
    for (const TraceFile& file : files) std::ofstream(folder_ / file.name, std::ios::binary) << file.content;
  }
  [[nodiscard]] ChakraTrace read(const std::string& name) const {
    return read_chakra((folder_ / name).string(), {.tensors = KeepTensors::kYes}).value().trace;
  }
  [[nodiscard]] ChakraJob read_job() const { return read_chakra_job((folder_ / "step").string()).value().job; }
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(test::own_folder());
};

TEST_F(ChakraWriting, WhatIsWrittenIsReadAgain) {
  const ChakraTrace written = sample();
  write({{.name = "a.et", .content = chakra_records(written)}});
  const ChakraTrace again = read("a.et");
  EXPECT_EQ(again.version, written.version);
  EXPECT_EQ(again.facts, written.facts);
  EXPECT_EQ(again.nodes.size(), 2U);
  for (std::size_t at = 0; at < written.nodes.size(); ++at) {
    const ChakraNode& node = again.nodes[at];
    const ChakraNode& before = written.nodes[at];
    EXPECT_EQ(node.id, before.id);
    EXPECT_EQ(node.kind, before.kind);
    EXPECT_EQ(node.start_micros, before.start_micros);
    EXPECT_EQ(node.duration_micros, before.duration_micros);
    EXPECT_EQ(again.name_of(node), written.name_of(before));
    EXPECT_TRUE(std::ranges::equal(again.control_of(node), written.control_of(before)));
    EXPECT_TRUE(std::ranges::equal(again.data_of(node), written.data_of(before)));
    EXPECT_EQ(again.group_of(node), written.group_of(before));
  }
  ChakraAttributes attributes = again.of(again.nodes[0]);
  attributes.pg_name = written.of(written.nodes[0]).pg_name;  // texts may be numbered otherwise
  EXPECT_EQ(attributes, written.of(written.nodes[0]));
  EXPECT_EQ(again.of(again.nodes[1]), ChakraAttributes());
  EXPECT_EQ(again.inputs_outputs, written.inputs_outputs);
}

TEST_F(ChakraWriting, ReadAndWrittenAgainAFileIsTheSameBytes) {
  const std::string bytes = chakra_records(sample());
  write({{.name = "a.et", .content = bytes}});
  EXPECT_EQ(chakra_records(read("a.et")), bytes);
}

// Written by hand from the format's field numbers: head {1: "0.0.4"}, node {1: 1, 2: "a", 3: COMM_COLL,
// 10: {1: "is_cpu_op", 27: false}, 10: {1: "comm_type", 7: 0}, 10: {1: "comm_size", 7: 1 MiB}}.
TEST_F(ChakraWriting, TheBytesAreThoseOfTheFormat) {
  ChakraTraceBuilder builder("a.et");
  builder.trace().version = "0.0.4";
  const ChakraAttributes sum{
      .is_cpu_op = false, .comm_type = ChakraCollective::kAllReduce, .comm_size = Bytes(1 << 20)};
  builder.add({.id = 1, .name = "a", .kind = ChakraKind::kCollective, .attributes = &sum});
  const std::string node = std::string("\x08\x01\x12\x01") + "a\x18\x07" + "\x52\x0e\x0a\x09" + "is_cpu_op" +
                           std::string("\xd8\x01\x00", 3) + "\x52\x0d\x0a\x09" + "comm_type" +
                           std::string("\x48\x00", 2) + "\x52\x0f\x0a\x09" + "comm_size" + "\x48\x80\x80\x40";
  EXPECT_EQ(chakra_records(std::move(builder).take()),
            std::string("\x07\x0a\x05") + "0.0.4" + static_cast<char>(node.size()) + node);
}

TEST_F(ChakraWriting, OneFilePerRank) {
  const ChakraJob job{.prefix = "step", .traces = {sample(), sample()}, .trace_of = {0, 1, 0}};
  const std::vector<TraceFile> files = chakra_files(job, "step", TraceFiles::kPerRank);
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[2].name, "step.2.et");
  write(files);
  EXPECT_THAT(read_job().trace_of, testing::ElementsAre(0U, 0U, 0U));  // of equal content
}

TEST_F(ChakraWriting, OneFilePerTraceWithAMap) {
  ChakraTrace other = sample();
  other.nodes[1].id = 11;
  const ChakraJob job{.prefix = "step", .traces = {sample(), other}, .trace_of = {0, 1, 1, 0, 0}};
  const std::vector<TraceFile> files = chakra_files(job, "step", TraceFiles::kPerTrace);
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[1].name, "step.1.et");
  EXPECT_THAT(files[2].content, testing::HasSubstr("\"0,3-4\""));
  write(files);
  EXPECT_EQ(read_job().trace_of, job.trace_of);
}

}  // namespace
}  // namespace ringwright::traces::writer_test
