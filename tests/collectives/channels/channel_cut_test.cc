// Cells, loops, chunks and slices of buffers whose sizes do not divide.
#include "collectives/channels/channel_cut.h"

#include <gtest/gtest.h>

namespace ringwright::collectives::channel_cut_test {
namespace {

using namespace ringwright::literals;

TEST(SlotData, IsAnEighthOfTheBufferLessTheFlags) {
  EXPECT_EQ(slot_data({.protocol = Protocol::kSimple}), 512_KiB);          // 4 MiB / 8
  EXPECT_EQ(slot_data({.protocol = Protocol::kLl}), 32_KiB);               // 512 KiB / 8 / 2
  EXPECT_EQ(slot_data({.protocol = Protocol::kLl128}), Bytes(4800 * 1024 / 8 * 15 / 16));
  EXPECT_EQ(slot_data({.protocol = Protocol::kLl, .chunk = Bytes(1000)}), Bytes(1008));  // a multiple of 16
}

TEST(ChannelCells, AreEqualAndHoldTheWholeBuffer) {
  const ChannelCells cells(Bytes(1'000'000), {.channels = 7, .kinds = 3});
  EXPECT_EQ(cells.cell(), Bytes(142'864));  // 142,857.1 rounded up to 16
  EXPECT_EQ(cells.copies(0) + cells.copies(1) + cells.copies(2), 7);
  EXPECT_EQ(cells.copies(0), 3);  // channels 0, 3, 6
  Bytes inside;
  for (int kind = 0; kind < 3; ++kind) {
    inside += cells.inside(Bytes(1'000'000), kind, {.offset = Bytes(0), .length = cells.cell()});
  }
  EXPECT_EQ(inside, Bytes(1'000'000));
}

TEST(ChannelCells, AreNoMoreThanThereIsDataFor) {
  const ChannelCells cells(Bytes(40), {.channels = 24, .kinds = 8});
  EXPECT_EQ(cells.channels(), 3);  // cells of 16 bytes
  EXPECT_EQ(cells.kinds(), 3);
  EXPECT_EQ(cells.inside(Bytes(40), 2, {.offset = Bytes(0), .length = Bytes(16)}), Bytes(8));
  EXPECT_EQ(ChannelCells(Bytes(0), {.channels = 4, .kinds = 2}).channels(), 1);
}

TEST(RaggedCell, EndsInAMultipleOfTheGrain) {
  const CollectivePlan plan{.protocol = Protocol::kLl128, .channels = 24, .grain = Bytes(19'200)};
  // 2 MiB on 24 channels are 87,382 bytes; of 8 parts each 10,923, rounded up to 19,200: 14 channels have work.
  const Bytes cell = ragged_cell(2_MiB, plan, {.parts = 8, .chunk = Bytes(576'000)});
  EXPECT_EQ(cell, Bytes(8 * 19'200));
  EXPECT_EQ(ChannelCells(2_MiB, {.channels = 24, .kinds = 1, .least = cell}).channels(), 14);
  // 40 MB a channel: eight loops of 8 x 576,000, and of the 3,136,000 bytes left 392,000 a part are 21 grains of
  // 19,200.
  EXPECT_EQ(ragged_cell(Bytes(24LL * 40'000'000), plan, {.parts = 8, .chunk = Bytes(576'000)}),
            Bytes(8LL * 8 * 576'000 + 8LL * 403'200));
}

TEST(RaggedCell, IsNeverMoreThanTheBuffer) {
  const CollectivePlan plan{.protocol = Protocol::kLl128, .channels = 4, .grain = Bytes(19'200)};
  const Bytes cell = ragged_cell(Bytes(4'000), plan, {.parts = 1, .chunk = Bytes(576'000)});
  EXPECT_EQ(ChannelCells(Bytes(4'000), {.channels = 4, .kinds = 1, .least = cell}).cell(), Bytes(4'000));
}

TEST(RaggedCell, IsNotAskedForWithoutAGrain) {
  EXPECT_EQ(ragged_cell(2_MiB, {.channels = 24}, {.parts = 8, .chunk = 512_KiB}), Bytes(0));
}

TEST(ChunkLoops, AreOneForSmallCells) {
  // 8 parts of 100 KB: one loop of chunks of 12,512 bytes (12,500 rounded up to 16), in slices of half that.
  const ChunkLoops loops(Bytes(100'000), {.parts = 8, .chunk = 2_MiB, .slices = 2, .least_slice = Bytes(16)});
  EXPECT_EQ(loops.loops(), 1);
  EXPECT_EQ(loops.slices_in_all(), 2);
  EXPECT_EQ(loops.primitives(15), 30);
  EXPECT_EQ(loops.slice_size({.loop = 0, .slice = 0}), Bytes(6'256));
  EXPECT_EQ(loops.slice_size({.loop = 0, .slice = 1}), Bytes(6'256));
}

TEST(ChunkLoops, DoNotCutChunksIntoCrumbs) {
  // As NCCL: no slice below 1/32 of a full one of 1 MiB, so 12,512 bytes stay in one piece; the second slice is empty,
  // but is still processed.
  const ChunkLoops loops(Bytes(100'000), {.parts = 8, .chunk = 2_MiB, .slices = 2, .least_slice = 32_KiB});
  EXPECT_EQ(loops.slices_in_all(), 2);
  EXPECT_EQ(loops.slice_size({}), Bytes(12'512));
  EXPECT_EQ(loops.slice_size({.slice = 1}), Bytes(0));
}

TEST(ChunkLoops, LeaveTheRestToTheLast) {
  // 3 parts x 1 KiB a loop: 3 full loops are 9,216 bytes; 784 are left, 272 a part (261.3 rounded up).
  const ChunkLoops loops(Bytes(10'000), {.parts = 3, .chunk = 1_KiB, .slices = 2, .least_slice = Bytes(16)});
  EXPECT_EQ(loops.loops(), 4);
  EXPECT_EQ(loops.slices_in_all(), 8);
  EXPECT_EQ(loops.slice({.loop = 3, .slice = 1}, 2).offset, Bytes(9'216 + 2 * 272 + 144));
  EXPECT_EQ(loops.slice({.loop = 3, .slice = 1}, 2).length, Bytes(128));
}

TEST(ChunkLoops, PlacePrimitivesStepByStepInEachLoop) {
  const ChunkLoops loops(Bytes(10'000), {.parts = 3, .chunk = 1_KiB, .slices = 2, .least_slice = Bytes(16)});
  const ChunkLoops::SliceIndex place = loops.place(2 * 10 + 7, 5);  // third loop of 5 steps x 2 slices
  EXPECT_EQ(place.loop, 2);
  EXPECT_EQ(place.step, 3);
  EXPECT_EQ(place.slice, 1);
  EXPECT_EQ(loops.slice_number(place), 5);
  EXPECT_EQ(loops.slice_at(5).loop, 2);
  EXPECT_EQ(loops.slice_at(5).slice, 1);
}

}  // namespace
}  // namespace ringwright::collectives::channel_cut_test
