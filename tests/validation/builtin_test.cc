// Measurements that are given twice count once, in comparisons and in fits.
#include "validation/builtin.h"

#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/own_folder.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation::builtin_test {
namespace {

using testing::HasSubstr;

std::string table() {
  return shipped_folder("kernels") + "/h100-sxm5-80gb.vllm.csv";
}
std::string copy_of_table() {
  const std::filesystem::path folder = test::own_folder();
  std::filesystem::create_directories(folder);
  const std::string copy = (folder / "copy.csv").string();
  std::filesystem::copy_file(table(), copy, std::filesystem::copy_options::overwrite_existing);
  return copy;
}

const Validator& kernels() {
  return *std::ranges::find(validators(), "kernels", &Validator::name);
}

TEST(Validators, AFileThatIsGivenTwiceCountsOnce) {
  const auto once = run_validator(kernels(), {.files = {table()}});
  ASSERT_TRUE(once) << render(once.error());
  EXPECT_TRUE(once->warnings.all().empty());
  for (const std::string& second : {table(), copy_of_table()}) {
    const auto twice = run_validator(kernels(), {.files = {table(), second}});
    ASSERT_TRUE(twice) << render(twice.error());
    EXPECT_EQ(twice->json, once->json);
    EXPECT_THAT(render(twice->warnings), HasSubstr("warning[W247]: the file has the content of '" + table() + "'"));
  }
}

TEST(Calibrators, AFileThatIsGivenTwiceCountsOnce) {
  const Calibrator& calibrator = *std::ranges::find(calibrators(), "kernels", &Calibrator::name);
  const auto once = run_calibrator(calibrator, {.files = {table()}});
  const auto twice = run_calibrator(calibrator, {.files = {table(), table()}});
  ASSERT_TRUE(once && twice);
  EXPECT_EQ(twice->profile, once->profile);
  EXPECT_THAT(render(twice->warnings), HasSubstr("warning[W247]"));
}

TEST(Validators, AFileThatCannotBeReadIsItsReadersMistake) {
  const auto missing = run_validator(kernels(), {.files = {"no-such-file.csv", "no-such-file.csv"}});
  ASSERT_FALSE(missing);
  EXPECT_THAT(render(missing.error()), HasSubstr("no-such-file.csv"));
}

}  // namespace
}  // namespace ringwright::validation::builtin_test
