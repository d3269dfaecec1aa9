#include "validation/training/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "validation/tables/shipped_files.h"

namespace ringwright::validation::vocabulary_test {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
  const auto vocabulary = parse_vocabulary("words.yaml", text);
  return vocabulary ? "" : render(vocabulary.error());
}

TEST(Vocabulary, RulesSetKeysOfAScenario) {
  const auto vocabulary =
      parse_vocabulary("words.yaml", "recompute:\n  - {words: [all], set: [training.recompute=full]}\n");
  ASSERT_TRUE(vocabulary) << render(vocabulary.error());
  ASSERT_EQ(vocabulary->recompute.size(), 1U);
  EXPECT_EQ(vocabulary->recompute[0].set[0].path, "training.recompute");
  EXPECT_EQ(vocabulary->recompute[0].set[0].value, "full");
  EXPECT_TRUE(vocabulary->precision.empty());
}

TEST(Vocabulary, AFlagThatARuleLeavesOutIsNotOff) {
  const auto vocabulary = parse_vocabulary("words.yaml", "overlap:\n  - {words: [sync], grad_reduce: false}\n");
  ASSERT_TRUE(vocabulary) << render(vocabulary.error());
  EXPECT_EQ(vocabulary->overlap[0].grad_reduce, false);
  EXPECT_FALSE(vocabulary->overlap[0].param_gather);
}

TEST(Vocabulary, ARuleWithoutWordsWouldFitEverything) {
  EXPECT_THAT(error_of("precision:\n  - {set: [training.precision=bf16]}\n"),
              HasSubstr("error[E168]: precision[0].words is empty: the rule would fit every text"));
  EXPECT_THAT(error_of("schedule:\n  - {words: [], schedule: 1f1b}\n"), HasSubstr("words.yaml:2:"));
}

TEST(Vocabulary, ASettingIsAKeyAndAValue) {
  const std::string text = error_of("precision:\n  - {words: [bf16], set: [training.precision]}\n");
  EXPECT_THAT(text,
              HasSubstr("words.yaml:2:26: error[E168]: precision[0].set holds 'training.precision', which is not"));
  EXPECT_THAT(error_of("overlap:\n  - {words: [a], set: [=on]}\n"), HasSubstr("'=on'"));
}

TEST(Vocabulary, MistakesHaveTheirPlaceAndComeTogether) {
  const std::string text =
      error_of("dp_sharding:\n  - {words: [ddp], means: nothing}\nnic:\n  - {words: [sum], card: 200}\ncolour: []\n");
  EXPECT_THAT(text, HasSubstr("words.yaml:2:"));
  EXPECT_THAT(text, HasSubstr("'nothing'"));
  EXPECT_THAT(text, HasSubstr("words.yaml:4:"));
  EXPECT_THAT(text, HasSubstr("colour"));
}

TEST(Vocabulary, AFileThatIsNotThereIsAnError) {
  EXPECT_FALSE(read_vocabulary("/no/such/words.yaml"));
}

TEST(Vocabulary, TheShippedOneIsRead) {
  const auto vocabulary = read_vocabulary(shipped_folder("training") + "/words.yaml");
  ASSERT_TRUE(vocabulary) << render(vocabulary.error());
  EXPECT_FALSE(vocabulary->precision.empty());
  EXPECT_FALSE(vocabulary->cards.empty());
}

}  // namespace
}  // namespace ringwright::validation::vocabulary_test
