#include "tools/written_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/own_folder.h"

namespace ringwright::tools::written_files_test {
namespace {

namespace fs = std::filesystem;

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> names(const std::string& folder) {
  std::vector<std::string> result;
  for (const auto& entry : fs::directory_iterator(folder)) result.push_back(entry.path().filename().string());
  std::ranges::sort(result);
  return result;
}

TEST(WrittenFiles, AFileIsReplacedAndNothingElseIsLeft) {
  const std::string folder = test::own_folder();
  EXPECT_EQ(write_file(folder + "a.txt", "old"), "");
  EXPECT_EQ(write_file(folder + "a.txt", "new"), "");
  EXPECT_EQ(content(folder + "a.txt"), "new");
  EXPECT_EQ(names(folder), std::vector<std::string>{"a.txt"});
}

TEST(WrittenFiles, AnExistingFileKeepsItsMode) {
  const std::string path = test::own_folder() + "a.txt";
  EXPECT_EQ(write_file(path, "old"), "");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(write_file(path, "new"), "");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(WrittenFiles, ALinkStaysALink) {
  const std::string folder = test::own_folder();
  EXPECT_EQ(write_file(folder + "target", "old"), "");
  fs::create_symlink("target", folder + "link");
  EXPECT_EQ(write_file(folder + "link", "new"), "");
  EXPECT_TRUE(fs::is_symlink(folder + "link"));
  EXPECT_EQ(content(folder + "target"), "new");
}

TEST(WrittenFiles, WhatCannotBeWrittenSaysWhy) {
  const std::string folder = test::own_folder();
  EXPECT_EQ(write_file(folder, "text"), "it is a directory");
  EXPECT_NE(write_file(folder + "none/a.txt", "text"), "");
  EXPECT_EQ(write_file("/dev/null", "text"), "");
  EXPECT_NE(write_file("/dev/full", "text"), "");
}

TEST(WrittenFiles, FilesThatBelongTogetherAreNeverMixed) {
  const std::string folder = test::own_folder() + "results";
  const auto write_many = [&folder](const std::string& who) {
    for (int i = 0; i < 50; ++i) {
      const std::array files{FileContent{.name = "a", .text = who}, FileContent{.name = "b", .text = who}};
      EXPECT_EQ(write_files(folder, files), "");
    }
  };
  std::thread other([&] { write_many("second"); });
  write_many("first");
  other.join();
  EXPECT_EQ(content(folder + "/a"), content(folder + "/b"));
  EXPECT_EQ(names(folder), (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace ringwright::tools::written_files_test
