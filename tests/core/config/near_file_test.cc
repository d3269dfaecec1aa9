#include "core/config/near_file.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace ringwright::near_file_test {
namespace {

class NearFile : public testing::Test {
 protected:
  NearFile() : folder_(testing::TempDir() + "ringwright_near_file_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_ + "/sub");
    std::ofstream(folder_ + "/model.yaml") << "a: 1\n";
  }
  ~NearFile() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

TEST_F(NearFile, IsRelativeToTheFileThatNamesIt) {
  EXPECT_EQ(near_file(folder() + "/study.yaml", "model.yaml"), folder() + "/model.yaml");
  EXPECT_EQ(near_file(folder() + "/sub/study.yaml", "../model.yaml"), folder() + "/model.yaml");
}

TEST_F(NearFile, AnAbsolutePathIsItself) {
  EXPECT_EQ(near_file("elsewhere/study.yaml", folder() + "/model.yaml"), folder() + "/model.yaml");
}

// A shipped scenario may have the name of a folder, such as `out`.
TEST_F(NearFile, IsNoFolderAndNothingThatIsMissing) {
  EXPECT_FALSE(near_file(folder() + "/study.yaml", "sub"));
  EXPECT_FALSE(near_file(folder() + "/study.yaml", "other.yaml"));
  EXPECT_FALSE(near_file(folder() + "/study.yaml", ""));
}

}  // namespace
}  // namespace ringwright::near_file_test
