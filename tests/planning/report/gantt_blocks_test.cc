#include "planning/report/gantt_blocks.h"

#include <gtest/gtest.h>

#include "tests/planning/report/sample_results.h"

namespace ringwright::planning::gantt_blocks_test {
namespace {

using namespace literals;
using traces::SliceKind;
using traces::Timeline;

struct Slice {
  std::uint32_t track;
  std::string name;
  SliceKind kind;
  Duration start;
  Duration end;
  std::uint32_t iteration = 0;
};

// Each rank computes on the track of its number, and communicates on the track behind all of these.
Timeline timeline_of_slices(std::size_t ranks, const std::vector<Slice>& slices) {
  Timeline timeline{.title = "test"};
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    timeline.ranks.push_back({.rank = RankId(rank), .role = "stage " + std::to_string(rank)});
    timeline.tracks.push_back({.rank = rank, .name = "compute"});
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) timeline.tracks.push_back({.rank = rank, .name = "stream 1"});
  for (const Slice& slice : slices) {
    timeline.names.push_back(slice.name);
    timeline.slices.push_back({.track = slice.track,
                               .name = static_cast<std::uint32_t>(timeline.names.size() - 1),
                               .kind = slice.kind,
                               .iteration = slice.iteration,
                               .start = TimePoint(slice.start),
                               .end = TimePoint(slice.end),
                               .bytes = slice.kind == SliceKind::kCompute ? 0_B : 1_KiB});
  }
  return timeline;
}

// Kernels of one pass with an all-gather between them.
TEST(GanttBlocks, APassIsOneBlock) {
  const GanttBlocks blocks = gantt_blocks(timeline_of_slices(1, {{0, "F0.0 forward", SliceKind::kCompute, 0_ms, 2_ms},
                                                                 {0, "F0.0 forward", SliceKind::kCompute, 3_ms, 4_ms},
                                                                 {0, "B0.0 backward", SliceKind::kCompute, 4_ms, 9_ms},
                                                                 {0, "optimizer", SliceKind::kCompute, 9_ms, 10_ms}}));
  ASSERT_EQ(blocks.blocks.size(), 3U);
  EXPECT_EQ(blocks.blocks[0].kind, "forward");
  EXPECT_DOUBLE_EQ(blocks.blocks[0].end, 0.004);
  EXPECT_DOUBLE_EQ(blocks.blocks[0].busy, 0.003);
  EXPECT_EQ(blocks.blocks[1].kind, "backward");
  EXPECT_EQ(blocks.blocks[2].kind, "optimizer and others");
}

TEST(GanttBlocks, CommunicationOfADimensionIsJoinedWhereGapsAreInvisible) {
  const GanttBlocks blocks =
      gantt_blocks(timeline_of_slices(1, {{1, "F0 tp all_gather", SliceKind::kCollective, 0_ms, 10_ms},
                                          {1, "F0 tp reduce_scatter", SliceKind::kCollective, 10001_us, 20_ms},
                                          {1, "F0 tp all_gather", SliceKind::kCollective, 90_ms, 100_ms},
                                          {1, "F0 pp send", SliceKind::kSend, 5_ms, 6_ms}}));
  ASSERT_EQ(blocks.blocks.size(), 3U);
  EXPECT_EQ(blocks.blocks[0].kind, "PP communication");
  EXPECT_EQ(blocks.blocks[1].kind, "TP communication");
  EXPECT_EQ(blocks.blocks[1].tasks, 2U);
  EXPECT_DOUBLE_EQ(blocks.blocks[1].bytes, 2048);
  EXPECT_DOUBLE_EQ(blocks.blocks[1].end, 0.02);
}

TEST(GanttBlocks, ShowTheLastStepFromItsStart) {
  const GanttBlocks blocks =
      gantt_blocks(timeline_of_slices(1, {{0, "F0 forward", SliceKind::kCompute, 0_ms, 5_ms, 0},
                                          {0, "F0 forward", SliceKind::kCompute, 7_ms, 9_ms, 1}}));
  ASSERT_EQ(blocks.blocks.size(), 1U);
  EXPECT_DOUBLE_EQ(blocks.blocks[0].start, 0.0);
  EXPECT_DOUBLE_EQ(blocks.blocks[0].end, 0.002);
}

TEST(GanttBlocks, StagesAreLeftOutWhereThereAreTooMany) {
  std::vector<Slice> slices;
  for (std::uint32_t rank = 0; rank < 8; ++rank)
    slices.push_back({rank, "F0 forward", SliceKind::kCompute, 0_ms, 5_ms});
  const Timeline timeline = timeline_of_slices(8, slices);
  const GanttBlocks all = gantt_blocks(timeline, 8);
  EXPECT_EQ(all.blocks.size(), 8U);
  EXPECT_EQ(all.note, "");
  const GanttBlocks half = gantt_blocks(timeline, 4);
  EXPECT_EQ(half.blocks.size(), 4U);
  EXPECT_EQ(half.note.substr(0, 24), "4 of 8 stages are shown,");
}

TEST(PipelineGantt, SaysHowToRecordTheTasks) {
  const Panel panel = samples::panel_of(samples::section_from(samples::kRunResult), "pipeline");
  EXPECT_TRUE(panel.columns.empty());
  EXPECT_NE(panel.note.find("--html FILE"), std::string::npos);
}

}  // namespace
}  // namespace ringwright::planning::gantt_blocks_test
