#include "configs/scenario/imports/megatron/megatron_flags.h"

#include <set>

#include <gtest/gtest.h>

namespace ringwright::configs::megatron_flags_test {
namespace {

TEST(MegatronFlags, NamesAreThereOnce) {
  std::set<std::string_view> names;
  for (const FlagEntry& entry : megatron_flags()) EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
  EXPECT_GE(names.size(), 90U);
}

TEST(MegatronFlags, ThoseThatMakeAKeyNameIt) {
  for (const FlagEntry& entry : megatron_flags()) {
    const bool plain = entry.meaning == FlagMeaning::kNumber || entry.meaning == FlagMeaning::kText ||
                       entry.meaning == FlagMeaning::kOn || entry.meaning == FlagMeaning::kOff;
    EXPECT_EQ(plain && entry.key.find('.') == std::string_view::npos, false) << entry.name;
    EXPECT_EQ(entry.meaning == FlagMeaning::kNotModelled && entry.key.empty(), false) << entry.name;
  }
}

TEST(MegatronFlags, ExactNamesComeBeforePatterns) {
  ASSERT_NE(find_megatron_flag("lr-warmup-iters"), nullptr);
  EXPECT_EQ(find_megatron_flag("lr-warmup-iters")->meaning, FlagMeaning::kNoEffect);
  EXPECT_EQ(find_megatron_flag("data-parallel-size")->meaning, FlagMeaning::kNumber);  // not data-*
  EXPECT_EQ(find_megatron_flag("no-such-flag"), nullptr);
}

}  // namespace
}  // namespace ringwright::configs::megatron_flags_test
