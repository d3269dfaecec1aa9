// Each broken file of tests/core/config/broken against its exact error text (.txt of the same name).
//
// A comment line "# --set KEY=VALUE" in a file is an argument of the command line.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/config/config_document.h"
#include "tests/core/config/sample_reader.h"
#include "tests/paths.h"

namespace ringwright::broken_test {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(ringwright::test_data()) / "core/config";

std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::vector<std::string> broken_files() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder / "broken")) {
    const std::string extension = entry.path().extension();
    if (extension == ".yaml" || extension == ".json") names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> overrides_in(const std::string& text) {
  std::vector<std::string> overrides;
  std::istringstream lines(text);
  constexpr std::string_view kMark = "# --set ";
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, kMark.size(), kMark) == 0) overrides.push_back(line.substr(kMark.size()));
  }
  return overrides;
}

// Messages name files as the user did: here, without the folder of the tests.
std::string without_folder(std::string text) {
  const std::string folder = (kFolder / "broken").string() + "/";
  for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder)) text.erase(at, folder.size());
  return text;
}

std::string messages(const std::string& name) {
  const fs::path path = kFolder / "broken" / name;
  const LoadOptions options{.overrides = overrides_in(read_text(path)),
                            .presets = {{"cluster.node", "nodes"}, {"cluster.node.gpu", "gpus"}},
                            .share_folders = {(kFolder / "share").string()}};
  auto document = ConfigDocument::load(path.string(), options);
  if (!document) return without_folder(render(document.error()));
  static_cast<void>(sample::read(document->root()));
  document->check_all_read();
  return without_folder(render(document->log().diagnostics()));
}

class BrokenFile : public ::testing::TestWithParam<std::string> {};

TEST_P(BrokenFile, IsAnsweredWithExactlyTheExpectedText) {
  const std::string text = messages(GetParam());
  const fs::path expected = (kFolder / "broken" / GetParam()).replace_extension(".txt");
  ASSERT_TRUE(fs::exists(expected)) << "no expected text; the output is:\n" << text;
  EXPECT_EQ(text, read_text(expected));
}

std::string test_name(const ::testing::TestParamInfo<std::string>& file) {
  std::string name = file.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Broken, BrokenFile, ::testing::ValuesIn(broken_files()), test_name);

TEST(BrokenFiles, AreAtLeastForty) {
  EXPECT_GE(broken_files().size(), 40U);
}

}  // namespace
}  // namespace ringwright::broken_test
