#include "core/base/cache_folder.h"

#include <cstdlib>
#include <map>
#include <string>

#include <gtest/gtest.h>

namespace ringwright::cache_folder_test {
namespace {

class CacheFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"RINGWRIGHT_CACHE", "XDG_CACHE_HOME", "HOME"}) {
      if (const char* const value = std::getenv(name); value != nullptr) before_[name] = value;
      unsetenv(name);
    }
  }
  void TearDown() override {
    for (const char* name : {"RINGWRIGHT_CACHE", "XDG_CACHE_HOME", "HOME"}) unsetenv(name);
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::map<std::string, std::string> before_;
};

TEST_F(CacheFolder, IsTheFirstThatIsSet) {
  EXPECT_EQ(cache_folder(), "");
  setenv("HOME", "/users/ada", 1);
  EXPECT_EQ(cache_folder(), "/users/ada/.cache/ringwright");
  setenv("XDG_CACHE_HOME", "/fast", 1);
  EXPECT_EQ(cache_folder(), "/fast/ringwright");
  setenv("RINGWRIGHT_CACHE", "/mine", 1);
  EXPECT_EQ(cache_folder(), "/mine");
}

TEST_F(CacheFolder, IsNoneWhereItIsOff) {
  setenv("HOME", "/users/ada", 1);
  setenv("RINGWRIGHT_CACHE", "off", 1);
  EXPECT_EQ(cache_folder(), "");
}

TEST_F(CacheFolder, IgnoresRelativePathsAsXdgRequires) {
  setenv("HOME", "/users/ada", 1);
  setenv("XDG_CACHE_HOME", "fast", 1);
  EXPECT_EQ(cache_folder(), "/users/ada/.cache/ringwright");
}

}  // namespace
}  // namespace ringwright::cache_folder_test
