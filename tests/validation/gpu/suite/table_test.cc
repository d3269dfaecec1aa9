// Tables that grow row by row, through runs that end in the middle of one.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "table.cuh"
#include "tests/support/own_folder.h"

namespace ringwright::gpu::table_test {
namespace {

const std::vector<std::string> kHead = {"gpu: mine", "device: a device, 132 SMs"};
const std::string kHeadText = "# gpu: mine\n# device: a device, 132 SMs\nm,op,time_us\n";

std::string write(const std::string& text) {
  const std::string path = test::own_folder() + "table.csv";
  std::ofstream(path) << text;
  return path;
}
std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}
Table open(const std::string& path) {
  return Table(path, kHead, {"m", "op"}, {"time_us"});
}

TEST(Table, BeginsWithItsHead) {
  const std::string path = test::own_folder() + "fresh.csv";
  std::remove(path.c_str());
  open(path).add({{"m", "8"}, {"op", "x"}, {"time_us", "1.5"}});
  EXPECT_EQ(text_of(path), kHeadText + "8,x,1.5\n");
}

TEST(Table, KnowsTheRowsOfTheRunBefore) {
  const std::string path = write(kHeadText + "8,x,1.5\n");
  const Table table = open(path);
  EXPECT_TRUE(table.has({{"m", "8"}, {"op", "x"}}));
  EXPECT_FALSE(table.has({{"m", "8"}, {"op", "y"}}));
}

TEST(Table, TakesOffHalfARowOfAKilledRun) {
  const std::string path = write(kHeadText + "8,x,1.5\n16,x,1");
  Table table = open(path);
  EXPECT_FALSE(table.has({{"m", "16"}, {"op", "x"}}));
  table.add({{"m", "16"}, {"op", "x"}, {"time_us", "17"}});
  EXPECT_EQ(text_of(path), kHeadText + "8,x,1.5\n16,x,17\n");
}

TEST(Table, StartsAgainWhereTheColumnsWereNeverWritten) {
  for (const char* const text : {"", "# gpu: mi", "# gpu: mine\nm,op"}) {
    const std::string path = write(text);
    open(path);
    EXPECT_EQ(text_of(path), kHeadText) << text;
  }
}

TEST(Table, RefusesAnotherTableAndAnotherDevice) {
  EXPECT_EXIT(open(write("# gpu: mine\nm,time_us\n8,1\n")), testing::ExitedWithCode(2), "holds another table");
  EXPECT_EXIT(open(write("# device: a device, 114 SMs\nm,op,time_us\n")), testing::ExitedWithCode(2), "another device");
  EXPECT_EXIT(open(write(kHeadText + "8,x\n")), testing::ExitedWithCode(2), "too few or too many columns");
}

}  // namespace
}  // namespace ringwright::gpu::table_test
