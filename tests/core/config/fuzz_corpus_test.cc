// Runs the fuzzer's seeds, and truncated and damaged forms of them, through the loader.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "tests/fuzz/config_reader.h"
#include "tests/paths.h"

namespace ringwright::fuzz_corpus_test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> seeds() {
  const fs::path tests = ringwright::test_data();
  std::vector<fs::path> paths;
  for (const fs::path& folder : {tests / "fuzz/corpus/config", tests / "core/config/broken"}) {
    for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const fs::path& path : paths) {
    // The billion laughs take a second each, also when damaged.
    if (path.stem() == "billion-laughs") continue;
    std::ifstream stream(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return texts;
}

TEST(ConfigFuzz, SurvivesItsSeeds) {
  const auto texts = seeds();
  ASSERT_GE(texts.size(), 100U);
  for (const std::string& text : texts) EXPECT_NO_THROW(fuzz::load_and_read(text)) << text;
}

TEST(ConfigFuzz, SurvivesSeedsCutShort) {
  RandomStream random(1, "cuts");
  for (const std::string& text : seeds()) {
    EXPECT_NO_THROW(fuzz::load_and_read(text.substr(0, random.next_below(text.size() + 1)))) << text;
  }
}

TEST(ConfigFuzz, SurvivesDamagedSeeds) {
  RandomStream random(2, "damage");
  constexpr std::string_view kStrokes = "{}[]:,\"'#&*!|>-?%@\\\n\t \0x0";
  for (const std::string& text : seeds()) {
    for (int round = 0; round < 4; ++round) {
      std::string damaged = text;
      for (int stroke = 0; stroke < 3 && !damaged.empty(); ++stroke) {
        damaged[random.next_below(damaged.size())] = kStrokes[random.next_below(kStrokes.size())];
      }
      EXPECT_NO_THROW(fuzz::load_and_read(damaged)) << damaged;
    }
  }
}

}  // namespace
}  // namespace ringwright::fuzz_corpus_test
