// MSCCL files: correct programs are proved, mistakes are reported with the failing line.
#include "collectives/msccl/program.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/msccl/proof.h"
#include "tests/collectives/msccl/example_programs.h"

namespace ringwright::collectives::program_test {
namespace {

using ::testing::HasSubstr;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

std::string mistake(const std::string& text) {
  auto program = parse_msccl(text, "p.xml");
  EXPECT_FALSE(program.has_value());
  return program ? "" : render(program.error());
}

TEST(MscclProgram, ReadsTheHead) {
  auto program = parse_msccl(ring_all_reduce(4), "p.xml");
  ASSERT_TRUE(program.has_value()) << render(program.error());
  EXPECT_EQ(program->name, "own_ring");
  EXPECT_EQ(program->kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(program->protocol, Protocol::kLl);
  EXPECT_EQ(program->ranks(), 4);
  EXPECT_EQ(program->max_bytes, Bytes(1 << 20));
  EXPECT_EQ(program->gpus[1].blocks[0].receive_block, 0);
}

TEST(MscclProgram, ProvesRingsOfAllSizes) {
  for (const int ranks : {2, 3, 5, 8, 16}) {
    auto program = parse_msccl(ring_all_reduce(ranks), "p.xml");
    ASSERT_TRUE(program.has_value()) << ranks << "\n" << render(program.error());
    EXPECT_TRUE(prove(*program).holds());
  }
}

TEST(MscclProgram, ProvesReductionsInLocalMemory) {
  auto program = parse_msccl(exchange_and_add(), "p.xml");
  EXPECT_TRUE(program.has_value()) << render(program.error());
}

// Without the wait the second block adds data that have not arrived yet.
TEST(MscclProgram, RefusesARace) {
  EXPECT_THAT(mistake(exchange_and_add("depid=\"-1\" deps=\"-1\"")), HasSubstr("holds nothing"));
}

TEST(MscclProgram, RefusesAWaitThatRunsInACycle) {
  // Each block waits for the end of the other.
  const std::string text = replaced(exchange_and_add(), "cnt=\"1\"/>", "cnt=\"1\" depid=\"1\" deps=\"0\"/>");
  EXPECT_THAT(mistake(text), HasSubstr("never runs"));
}

TEST(MscclProgram, RefusesWrongSums) {
  // The last but one step adds chunk 0 where chunk 1 would be due.
  const std::string wrong = replaced(ring_all_reduce(4), "type=\"rrcs\" srcbuf=\"i\" srcoff=\"1\"",
                                     "type=\"rrcs\" srcbuf=\"i\" srcoff=\"2\"");
  EXPECT_THAT(mistake(wrong), HasSubstr("ends with the wrong data"));
}

TEST(MscclProgram, RefusesSendsWithoutReceives) {
  const std::string fewer = replaced(ring_all_reduce(2), "<step s=\"2\" type=\"r\"", "<step s=\"2\" type=\"nop\"");
  EXPECT_THAT(mistake(fewer), HasSubstr("sends a message that is never received"));
  EXPECT_THAT(mistake(replaced(ring_all_reduce(3), "recv=\"2\"", "recv=\"1\"")),
              HasSubstr("which sends nothing there"));
}

TEST(MscclProgram, RefusesMessagesOfUnequalLength) {
  std::string text = replaced(exchange_and_add(), "nchunksperloop=\"1\"", "nchunksperloop=\"2\"");
  text = replaced(text, "i_chunks=\"1\"", "i_chunks=\"2\"");
  text = replaced(text, "dstoff=\"0\" cnt=\"1\"/>", "dstoff=\"0\" cnt=\"2\"/>");
  EXPECT_THAT(mistake(text), HasSubstr("receives 1 chunks where line 4 sends 2"));
}

TEST(MscclProgram, RefusesChunksOutOfRange) {
  const std::string text = replaced(ring_all_reduce(4), "srcoff=\"0\"", "srcoff=\"4\"");
  EXPECT_THAT(mistake(text), HasSubstr("p.xml:4"));
  EXPECT_THAT(mistake(text), HasSubstr("chunks 4 to 4 are out of range: the buffer has 4"));
}

TEST(MscclProgram, RefusesTwoWritersOfAQueue) {
  const std::string text = replaced(exchange_and_add(), "<tb id=\"1\" send=\"-1\"", "<tb id=\"1\" send=\"1\"");
  EXPECT_THAT(mistake(text), HasSubstr("both send to GPU 1 on channel 0"));
}

TEST(MscclProgram, RefusesWaitsForWhatIsNotThere) {
  EXPECT_THAT(mistake(exchange_and_add("depid=\"7\" deps=\"0\"")), HasSubstr("step 0 of thread block 7"));
}

TEST(MscclProgram, RefusesBadAttributes) {
  EXPECT_THAT(mistake(replaced(ring_all_reduce(2), "proto=\"LL\"", "proto=\"Fast\"")), HasSubstr("proto is 'Fast'"));
  EXPECT_THAT(mistake(replaced(ring_all_reduce(2), "allreduce", "sum")), HasSubstr("coll is 'sum'"));
  EXPECT_THAT(mistake(replaced(ring_all_reduce(2), "type=\"s\"", "type=\"t\"")), HasSubstr("type is 't'"));
  EXPECT_THAT(mistake(replaced(ring_all_reduce(2), "<gpu id=\"1\"", "<gpu id=\"0\"")), HasSubstr("is listed twice"));
  EXPECT_THAT(mistake(replaced(ring_all_reduce(2), "nchannels=\"1\"", "nchannels=\"many\"")),
              HasSubstr("whole number"));
  EXPECT_THAT(mistake("<graphs/>"), HasSubstr("begins with <graphs>"));
  EXPECT_THAT(mistake("<algo"), HasSubstr("p.xml:1"));
}

TEST(MscclProgram, OfACustomCollectiveOnlyTheEndIsProved) {
  auto program = parse_msccl(replaced(ring_all_reduce(2), "allreduce", "custom"), "p.xml");
  ASSERT_TRUE(program.has_value());
  EXPECT_FALSE(program->kind.has_value());
}

// What msccl-tools writes for an in-place all-gather: the rank's part of the output is its input, which has no size.
constexpr std::string_view kInPlaceGather = R"(<algo name="own_gather" nchannels="1" nchunksperloop="2" proto="Simple"
    coll="allgather" inplace="1" outofplace="0" ngpus="2">
  <gpu id="0" i_chunks="0" o_chunks="2" s_chunks="0">
    <tb id="0" send="1" recv="1" chan="0">
      <step s="0" type="s" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="0" o_chunks="2" s_chunks="0">
    <tb id="0" send="0" recv="0" chan="0">
      <step s="0" type="s" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
</algo>)";

TEST(MscclProgram, InPlaceAGatherNeedsNoSizeOfItsInput) {
  const auto gather = parse_msccl(std::string(kInPlaceGather), "p.xml");
  EXPECT_TRUE(gather.has_value()) << render(gather.error());
  // The input is the rank's one chunk.
  const std::string own =
      replaced(std::string(kInPlaceGather), "srcbuf=\"o\" srcoff=\"0\"", "srcbuf=\"i\" srcoff=\"0\"");
  EXPECT_TRUE(parse_msccl(own, "p.xml").has_value());
  EXPECT_THAT(mistake(replaced(own, "srcbuf=\"i\" srcoff=\"0\"", "srcbuf=\"i\" srcoff=\"1\"")),
              HasSubstr("out of range"));
  EXPECT_THAT(mistake(replaced(std::string(kInPlaceGather), "inplace=\"1\"", "inplace=\"0\"")),
              HasSubstr("holds nothing"));
}

// And of an in-place all-reduce or broadcast the size of either buffer is that of both.
TEST(MscclProgram, InPlaceOneSizeIsThatOfBothBuffers) {
  std::string text = ring_all_reduce(2);
  for (int gpu = 0; gpu < 2; ++gpu) {
    text = replaced(text, "i_chunks=\"2\" o_chunks=\"0\"", "i_chunks=\"0\" o_chunks=\"2\"");
  }
  const auto program = parse_msccl(text, "p.xml");
  EXPECT_TRUE(program.has_value()) << render(program.error());
}

// The output of GPU 1 is the second half of its input of four chunks: what follows it is no buffer of the GPU.
TEST(MscclProgram, InPlaceAScatteredOutputEndsWithTheInput) {
  const auto scatter = [](int chunk) {
    std::string gpus;
    for (int gpu = 0; gpu < 2; ++gpu) {
      gpus += fmt::format(R"(<gpu id="{}" i_chunks="4" o_chunks="2" s_chunks="0">
<tb id="0" send="-1" recv="-1" chan="0">
<step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="{}" cnt="1"/></tb></gpu>)",
                          gpu, gpu == 1 ? chunk : 0);
    }
    return R"(<algo name="own" nchannels="1" nchunksperloop="4" proto="Simple" coll="reduce_scatter"
inplace="1" ngpus="2">)" +
           gpus + "</algo>";
  };
  EXPECT_THAT(mistake(scatter(2)), HasSubstr("chunks 2 to 2 are out of range: the buffer has 2"));
  EXPECT_THAT(mistake(scatter(1)), HasSubstr("ends with the wrong data"));
}

// The proof holds every chunk of every GPU, whatever a file claims to have.
TEST(MscclProgram, RefusesMoreChunksThanAProofHolds) {
  std::string gpus;
  for (int gpu = 0; gpu < 5; ++gpu) {
    gpus += fmt::format(R"(<gpu id="{}" i_chunks="1048576" o_chunks="0" s_chunks="0"></gpu>)", gpu);
  }
  EXPECT_THAT(mistake(R"(<algo nchannels="1" nchunksperloop="5" proto="LL" coll="allreduce" inplace="1" ngpus="5">)" +
                      gpus + "</algo>"),
              HasSubstr("5242880 chunks of all GPUs are too many: at most 4194304"));
}

TEST(MscclProgram, RefusesCopiesToOutputsThatAreNotThere) {
  const std::string text =
      replaced(ring_all_reduce(2), "o_chunks=\"0\" s_chunks=\"0\">",
               "o_chunks=\"0\" s_chunks=\"0\"><copy i_off=\"0\" o_off=\"0\"/>");
  EXPECT_THAT(mistake(replaced(text, "inplace=\"1\"", "inplace=\"0\"")),
              HasSubstr("copies from 2 chunks of input to 0 of output"));
}

TEST(MscclProgram, RefusesAMisspelledAttributeAndTakesForeignOnes) {
  const std::string text = ring_all_reduce(4);
  EXPECT_THAT(mistake(replaced(text, "maxBytes=", "maxbytes=")), HasSubstr("did you mean 'maxBytes'?"));
  EXPECT_TRUE(parse_msccl(replaced(text, "<algo ", "<algo author=\"me\" "), "p.xml"));
}

TEST(MscclProgram, RefusesStepsOutOfOrder) {
  EXPECT_THAT(mistake(replaced(ring_all_reduce(4), "<step s=\"1\"", "<step s=\"2\"")),
              HasSubstr("step 2 stands where step 1 belongs"));
}

}  // namespace
}  // namespace ringwright::collectives::program_test
