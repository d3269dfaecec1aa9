#include "validation/training/conventions.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "validation/tables/shipped_files.h"
#include "tests/support/own_folder.h"

namespace ringwright::validation::conventions_test {
namespace {

TEST(TrainingConventions, TheShippedOnesAreRead) {
  const auto conventions = read_conventions(shipped_folder("training"));
  ASSERT_TRUE(conventions) << render(conventions.error());
  ASSERT_NE(conventions->find_source("korthikanti_recompute"), nullptr);
  EXPECT_EQ(conventions->find_source("korthikanti_recompute")->title, "Korthikanti");
  EXPECT_EQ(conventions->find_source("nobody"), nullptr);
}

TEST(TrainingConventions, EveryStackThatIsNamedExists) {
  const std::string folder = shipped_folder("training");
  const auto conventions = read_conventions(folder);
  ASSERT_TRUE(conventions) << render(conventions.error());
  const std::vector<std::string> files = files_in(folder, ".yaml");
  const auto lies_there = [&](const std::string& stack) {
    return std::ranges::any_of(files, [&](const std::string& file) { return file.ends_with("/" + stack); });
  };
  for (const SourceRule& rule : conventions->sources) {
    EXPECT_TRUE(rule.stack.empty() || lies_there(rule.stack)) << rule.name;
  }
  for (const StackRule& rule : conventions->frameworks) EXPECT_TRUE(lies_there(rule.stack)) << rule.stack;
}

TEST(TrainingConventions, EveryShippedTableHasARule) {
  const std::string folder = shipped_folder("training");
  const auto conventions = read_conventions(folder);
  ASSERT_TRUE(conventions) << render(conventions.error());
  for (const std::string& file : files_in(folder, ".csv")) {
    const std::string name = file.substr(file.rfind('/') + 1, file.size() - file.rfind('/') - 5);
    EXPECT_NE(conventions->find_source(name), nullptr) << file;
  }
}

TEST(TrainingConventions, RowsOfOneTableMayBeScoredApartAndComeFromSeveralVersions) {
  TrainingConventions conventions;
  conventions.sources = {{.name = "runs", .models = {"gpt3"}, .versions = {{{.words = {"v3.0"}}, "old.yaml", 1}}},
                         {.name = "runs"}};
  EXPECT_EQ(conventions.find_source("runs", "GPT3-175b")->key(), "runs/gpt3");
  EXPECT_EQ(conventions.find_source("runs", "llama")->key(), "runs");
  EXPECT_EQ(conventions.find_source("others", "llama"), nullptr);
  EXPECT_EQ(conventions.find_source("runs/gpt3")->version_of("round v3.0, somewhere")->stack, "old.yaml");
  EXPECT_EQ(conventions.find_source("runs/gpt3")->version_of("round v4.0"), nullptr);
}

TEST(TrainingConventions, MistakesOfBothFilesComeTogether) {
  const std::filesystem::path folder = std::filesystem::path(test::own_folder());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "conventions.yaml") << "fsdp:\n  - {words: [titan], set: [wrap_ends]}\n"
                                                "models:\n  - {preset: llama3-8b}\n  - {words: [gpt]}\n";
  std::ofstream(folder / "words.yaml") << "precision:\n  - {words: [bf16], sets: []}\n";
  const auto conventions = read_conventions(folder.string());
  std::filesystem::remove_all(folder);
  ASSERT_FALSE(conventions);
  const std::string text = render(conventions.error());
  EXPECT_THAT(text,
              ::testing::HasSubstr("conventions.yaml:2:27: error[E168]: fsdp[0].set holds 'wrap_ends', which is no"));
  EXPECT_THAT(text, ::testing::HasSubstr("error[E168]: models[0].words is empty"));
  EXPECT_THAT(text, ::testing::HasSubstr("conventions.yaml:5:13: error[E168]: models[1] names neither"));
  EXPECT_THAT(text, ::testing::HasSubstr("words.yaml:2:"));
  EXPECT_THAT(text, ::testing::HasSubstr("sets"));
}

TEST(TrainingConventions, AFolderWithoutThemIsAnError) {
  EXPECT_FALSE(read_conventions("/no/such/folder"));
}

}  // namespace
}  // namespace ringwright::validation::conventions_test
