// Tuner files: which line applies, and the errors for unreadable lines.
#include "collectives/nccl/cost/tuner_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::collectives::tuner_file_test {
namespace {

using namespace ringwright::literals;
using ::testing::HasSubstr;

TunerFile read(std::string_view text) {
  auto file = parse_tuner_file(text, "tuner.csv");
  EXPECT_TRUE(file.has_value());
  return file ? *file : TunerFile{};
}

const TunerLine* find(const TunerFile& file, Bytes bytes, int ranks, int per_host,
                      CollectiveKind kind = CollectiveKind::kAllReduce) {
  const GroupLayout layout = make_block_layout(ranks, per_host);
  return file.find({.kind = kind, .bytes = bytes, .layout = &layout});
}

Diagnostic first_mistake(std::string_view text) {
  auto file = parse_tuner_file(text, "tuner.csv");
  EXPECT_FALSE(file.has_value());
  return file ? Diagnostic{} : file.error().all().front();
}

TEST(TunerFile, TheFirstLineThatFitsDecides) {
  const TunerFile file = read(
      "# made by hand\n"
      "\n"
      "allreduce,0,65536,tree,ll,2,-1,-1\n"
      "allreduce,0,1048576,ring,ll128,-1,-1,-1\n");
  EXPECT_EQ(find(file, 64_KiB, 8, 8)->line, 3);
  EXPECT_EQ(find(file, 65537_B, 8, 8)->line, 4);
  EXPECT_EQ(find(file, 2_MiB, 8, 8), nullptr);
  EXPECT_EQ(find(file, 1_KiB, 8, 8, CollectiveKind::kBroadcast), nullptr);
}

TEST(TunerFile, HostsAndRanksMustFitWhereTheyAreNamed) {
  const TunerFile file = read("allreduce,0,4294967295,ring,simple,-1,2,16\n");
  EXPECT_NE(find(file, 1_MiB, 16, 8), nullptr);
  EXPECT_EQ(find(file, 1_MiB, 16, 4), nullptr);
  EXPECT_EQ(find(file, 1_MiB, 8, 4), nullptr);
}

TEST(TunerFile, TheLargestNumberOf32BitsIsNoLimit) {
  EXPECT_NE(find(read("allreduce,0,4294967295,ring,simple,-1,-1,-1"), 16_GiB, 8, 8), nullptr);
}

// One operation at a time, in buffers that are not registered.
TEST(TunerFile, OptionalFieldsMustFitToo) {
  EXPECT_NE(find(read("allreduce,0,9999999,ring,simple,-1,-1,-1,1,0"), 1_MiB, 8, 8), nullptr);
  EXPECT_EQ(find(read("allreduce,0,9999999,ring,simple,-1,-1,-1,4"), 1_MiB, 8, 8), nullptr);
  EXPECT_EQ(find(read("allreduce,0,9999999,ring,simple,-1,-1,-1,-1,1"), 1_MiB, 8, 8), nullptr);
}

TEST(TunerFile, BlanksAndCarriageReturnsDoNotMatter) {
  EXPECT_EQ(read(" allreduce , 0 ,1024, nvls_tree , simple , 4 , -1 , -1 \r\n").lines.at(0).channels, 4);
}

TEST(TunerFile, NamesTheFieldThatIsWrong) {
  const Diagnostic mistake =
      first_mistake("allreduce,0,65536,ring,simple,-1,-1,-1\nallreduce,0,65536,trees,ll,2,-1,-1\n");
  EXPECT_EQ(mistake.place.line, 2);
  EXPECT_EQ(mistake.place.column, 19);
  EXPECT_THAT(mistake.message, HasSubstr("'trees' is not a valid algorithm"));
  EXPECT_THAT(mistake.hint, HasSubstr("tree"));
}

TEST(TunerFile, CountsFields) {
  EXPECT_THAT(first_mistake("allreduce,0,65536,tree,ll,2\n").message, HasSubstr("6 fields"));
  EXPECT_THAT(first_mistake("allreduce,0,65536,tree,ll,2,-1,-1,1,0,9\n").message, HasSubstr("11 fields"));
}

TEST(TunerFile, RefusesNumbersThatAreNone) {
  EXPECT_THAT(first_mistake("allreduce,64K,65536,tree,ll,2,-1,-1").message, HasSubstr("min_bytes is '64K'"));
  EXPECT_THAT(first_mistake("allreduce,10,5,tree,ll,2,-1,-1").message, HasSubstr("above max_bytes"));
  EXPECT_THAT(first_mistake("allreduce,0,5,tree,ll,0,-1,-1").message, HasSubstr("channels is 0"));
  EXPECT_THAT(first_mistake("allreduce,0,5,tree,ll,2,,-1").message, HasSubstr("nNodes is ''"));
}

TEST(TunerFile, ChannelsHostsAndRanksHaveARange) {
  EXPECT_THAT(first_mistake("allreduce,0,5,tree,ll,5000,-1,-1").message,
              HasSubstr("channels is '5000' and must be a whole number from -1 to 64"));
  EXPECT_THAT(first_mistake("allreduce,0,5,tree,ll,2,16,8").message, HasSubstr("nNodes 16 is above nRanks 8"));
}

TEST(TunerFile, ReportsAllMistakesAtOnce) {
  auto file = parse_tuner_file("a,0,1,b,c,1,-1,-1\nx\n", "tuner.csv");
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().error_count(), 4u);
}


TEST(TunerFile, TakesTheByteOrderMarkOfExcel) {
  EXPECT_EQ(read("\xEF\xBB\xBF" "allreduce,0,100,ring,simple,2,-1,-1\r\n").lines.size(), 1U);
}

}  // namespace
}  // namespace ringwright::collectives::tuner_file_test
