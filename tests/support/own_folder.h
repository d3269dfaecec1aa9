// A folder that no other test writes into: tests run concurrently, in processes of their own, and so may two checkouts.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace ringwright::test {

// Of the running test, created when it does not exist; ends with a slash.
[[nodiscard]] inline std::string own_folder() {
  const testing::TestInfo* const running = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string("ringwright_") + running->test_suite_name() + "_" + running->name() + "_" +
                     std::to_string(getpid());
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::create_directories(folder);
  return folder.string() + "/";
}

}  // namespace ringwright::test
