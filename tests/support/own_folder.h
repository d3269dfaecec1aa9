// A folder that no other test writes into: tests run concurrently, in processes of their own, and so may two checkouts.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

namespace ringwright::test {

[[nodiscard]] inline std::filesystem::path folder_of(const testing::TestInfo& info) {
  std::string name =
      std::string("ringwright_") + info.test_suite_name() + "_" + info.name() + "_" + std::to_string(getpid());
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return std::filesystem::path(testing::TempDir()) / name;
}

// A failed test leaves its folder, to be looked at.
class FolderRemover final : public testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const testing::TestInfo& info) override {
    std::error_code left;
    if (!info.result()->Failed()) std::filesystem::remove_all(folder_of(info), left);
  }
};

// Of the running test, created when it does not exist; ends with a slash. It is removed when the test has passed.
[[nodiscard]] inline std::string own_folder() {
  static const bool listens = [] {
    testing::UnitTest::GetInstance()->listeners().Append(new FolderRemover);  // which owns it
    return true;
  }();
  static_cast<void>(listens);
  const std::filesystem::path folder = folder_of(*testing::UnitTest::GetInstance()->current_test_info());
  std::filesystem::create_directories(folder);
  return folder.string() + "/";
}

}  // namespace ringwright::test
