#include "configs/scenario/imports/hydra/bridge_keys.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "configs/scenario/imports/megatron/megatron_flags.h"

namespace ringwright::configs::bridge_keys_test {
namespace {

TEST(BridgeKeys, NamesAreThereOnce) {
  for (const KeySection& section : bridge_sections()) {
    std::set<std::string_view> names;
    for (const KeyRow& row : section.rows) EXPECT_TRUE(names.insert(row.name).second) << section.name << row.name;
    for (const std::string_view name : section.idle) EXPECT_TRUE(names.insert(name).second) << section.name << name;
  }
}

// Rules of flags exist once: every key that has an effect is a flag with one.
TEST(BridgeKeys, FlagsAreThoseOfMegatron) {
  for (const KeySection& section : bridge_sections()) {
    for (const KeyRow& row : section.rows) {
      if (row.meaning == KeyMeaning::kUnmodelled) {
        EXPECT_NE(row.flag.find(' '), std::string_view::npos) << row.name << " has a reason";
        continue;
      }
      if (row.meaning == KeyMeaning::kIdle) continue;
      EXPECT_NE(find_megatron_flag(flag_of(row)), nullptr) << section.name << "." << row.name;
    }
  }
}

}  // namespace
}  // namespace ringwright::configs::bridge_keys_test
