#include "core/base/user_file.h"

#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "tests/support/own_folder.h"

namespace ringwright::user_file_test {
namespace {

using namespace std::chrono_literals;

std::string problem(const std::string& path, const FileLimits& limits = {}) {
  const auto text = read_user_file(path, limits);
  return text ? "read: " + *text : text.error();
}

TEST(UserFile, IsReadAsItIs) {
  const std::string path = test::own_folder() + "file";
  const std::string content(200'000, '\0');
  std::ofstream(path, std::ios::binary) << content;
  EXPECT_EQ(read_user_file(path), content);
}

TEST(UserFile, WhatIsNoFileIsNotRead) {
  const std::string folder = test::own_folder();
  EXPECT_EQ(problem(folder + "nothing"), "no such file");
  EXPECT_EQ(problem(folder), "it is a directory");
  EXPECT_EQ(problem("/dev/zero"), "it is a device or a socket, not a file");
}

TEST(UserFile, ALargeOneIsRefusedBeforeItIsRead) {
  const std::string path = test::own_folder() + "large";
  std::ofstream(path) << "x";
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40U);  // a hole: takes no space on the disk
  EXPECT_EQ(problem(path), "it is larger than 64 MiB");
}

TEST(UserFile, APipeIsReadToItsEnd) {
  const std::string path = test::own_folder() + "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&path] { std::ofstream(path) << "through a pipe"; });
  EXPECT_EQ(problem(path), "read: through a pipe");
  writer.join();
}

TEST(UserFile, APipeThatNobodyWritesToIsNotWaitedForForEver) {
  const std::string path = test::own_folder() + "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(problem(path, {.silence = 20ms}), "no data from this pipe for 0.02 s");
}

TEST(UserFile, APipeWithoutEndIsLeft) {
  const std::string path = test::own_folder() + "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::signal(SIGPIPE, SIG_IGN);  // the writer's signal when the reader closes
  std::thread writer([&path] { std::ofstream(path) << std::string(300'000, 'x'); });
  EXPECT_EQ(problem(path, {.bytes = 102'400}), "it is larger than 100 KiB");
  writer.join();
}

}  // namespace
}  // namespace ringwright::user_file_test
