#include "core/config/input_file.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace ringwright::input_file_test {
namespace {

InputFile read(const std::string& content) {
  const std::string path = ::testing::TempDir() + "input_file_test.txt";
  std::ofstream(path, std::ios::binary) << content;
  return read_input_file(path);
}

TEST(InputFile, HasNoByteOrderMark) {
  EXPECT_EQ(read("\xEF\xBB\xBF{}").text, "{}");
  EXPECT_EQ(read("{}").text, "{}");
  EXPECT_EQ(read("\xEF\xBB\xBF").text, "");
}

TEST(InputFile, Utf16IsAProblem) {
  EXPECT_EQ(read(std::string("\xFF\xFE{\0}\0", 6)).problem, "it is UTF-16; save it as UTF-8");
}

}  // namespace
}  // namespace ringwright::input_file_test
