#include "core/base/shared_folder.h"

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

namespace ringwright::shared_folder_test {
namespace {

namespace fs = std::filesystem;

class SharedFolder : public ::testing::Test {
 protected:
  SharedFolder()
      : root_(fs::canonical(fs::temp_directory_path()) /
              (std::string("shared_folder_") + ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(root_);
  }
  ~SharedFolder() override {
    fs::remove_all(root_);
    unsetenv("RINGWRIGHT_SHARE");
  }

  std::string folder(const std::string& name) const {
    fs::create_directories(root_ / name);
    return (root_ / name).string();
  }
  std::string program(const std::string& name) const { return (root_ / name).string(); }

  fs::path root_;
};

TEST_F(SharedFolder, LiesNextToTheFolderOfAnInstalledProgram) {
  const std::string configs = folder("usr/share/ringwright/configs");
  EXPECT_EQ(shared_folder_of(program("usr/bin/ringwright"), "configs"), configs);
}

// A test in build/release/tests finds the links in build/release, whichever folder the build is in.
TEST_F(SharedFolder, IsBehindALinkInAFolderOfABuild) {
  const std::string sources = folder("tree/configs");
  folder("build/release/share/ringwright");
  fs::create_directory_symlink(sources, root_ / "build/release/share/ringwright/configs");
  EXPECT_EQ(shared_folder_of(program("build/release/tests/base_test"), "configs"), sources);
}

TEST_F(SharedFolder, TheNearestOneCounts) {
  folder("share/ringwright/configs");
  const std::string nearer = folder("moved/share/ringwright/configs");
  EXPECT_EQ(shared_folder_of(program("moved/bin/ringwright"), "configs"), nearer);
}

TEST_F(SharedFolder, WithoutOneThePlaceOfThePackageIsNamed) {
  EXPECT_EQ(shared_folder_of(program("bin/ringwright"), "no_such_folder"), "/usr/share/ringwright/no_such_folder");
}

TEST_F(SharedFolder, TheEnvironmentComesFirstAndIsMeant) {
  const std::string configs = folder("mine/configs");
  setenv("RINGWRIGHT_SHARE", (root_ / "mine").c_str(), 1);
  EXPECT_EQ(shared_folder("configs"), configs);
  EXPECT_EQ(shared_folder("validation"), (root_ / "mine" / "validation").string());
}

TEST_F(SharedFolder, ThisProgramFindsTheShippedPresets) {
  EXPECT_TRUE(fs::exists(fs::path(shared_folder("configs")) / "gpus" / "h100-sxm5-80gb.yaml"))
      << shared_folder("configs");
}

}  // namespace
}  // namespace ringwright::shared_folder_test
