// Feeds the seeds of every reader, and truncated and damaged forms of them, to it.
#include "tests/fuzz/readers.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "tests/paths.h"

namespace ringwright::fuzz::readers_test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> seeds(const Reader& reader) {
  std::vector<fs::path> paths;
  const fs::path folder = fs::path(ringwright::test_data()) / "fuzz/corpus" / reader.name;
  if (!fs::is_directory(folder)) return {};
  for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const fs::path& path : paths) {
    std::ifstream stream(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return texts;
}

class Readers : public testing::TestWithParam<Reader> {};

TEST_P(Readers, HaveSeedsAndSurviveThem) {
  const auto texts = seeds(GetParam());
  ASSERT_FALSE(texts.empty());
  for (const std::string& text : texts) EXPECT_NO_THROW(GetParam().read(text)) << text;
}

TEST_P(Readers, SurviveSeedsCutShort) {
  RandomStream random(1, "cuts");
  for (const std::string& text : seeds(GetParam())) {
    for (int cut = 0; cut < 4; ++cut) {
      EXPECT_NO_THROW(GetParam().read(text.substr(0, random.next_below(text.size() + 1)))) << text;
    }
  }
}

// Bytes of the grammar at random positions, a digit that becomes huge or negative, and a duplicated line.
std::string damaged(const std::string& seed, RandomStream& random) {
  constexpr std::string_view kStrokes = "{}[]<>/=:,\"'#&*!|>-?%@\\\n\t \0x0,";
  std::string text = seed;
  for (int stroke = 0; stroke < 3 && !text.empty(); ++stroke) {
    text[random.next_below(text.size())] = kStrokes[random.next_below(kStrokes.size())];
  }
  const auto digit = text.find_first_of("0123456789", text.empty() ? 0 : random.next_below(text.size()));
  if (digit == std::string::npos) return text;
  constexpr std::string_view kNumbers[] = {"-1", "0", "9223372036854775807", "1e308", "nan", "99999999999999999999"};
  return text.replace(digit, 1, kNumbers[random.next_below(std::size(kNumbers))]);
}

TEST_P(Readers, SurviveDamagedSeeds) {
  RandomStream random(2, "damage");
  for (const std::string& text : seeds(GetParam())) {
    for (int round = 0; round < 20; ++round) {
      const std::string input = damaged(text, random);
      EXPECT_NO_THROW(GetParam().read(input)) << input;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Readers, testing::ValuesIn(readers().begin(), readers().end()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace ringwright::fuzz::readers_test
