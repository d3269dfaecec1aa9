#include "configs/scenario/imports/hydra/nemo_keys.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "configs/scenario/imports/megatron/megatron_flags.h"

namespace ringwright::configs::nemo_keys_test {
namespace {

TEST(NemoKeys, NamesAreThereOnceAndTheirFlagsAreMegatrons) {
  for (const KeySection& section : nemo_sections()) {
    std::set<std::string_view> names;
    for (const std::string_view name : section.idle) EXPECT_TRUE(names.insert(name).second) << section.name << name;
    for (const KeyRow& row : section.rows) {
      EXPECT_TRUE(names.insert(row.name).second) << section.name << "." << row.name;
      if (row.meaning == KeyMeaning::kUnmodelled || row.meaning == KeyMeaning::kIdle) continue;
      EXPECT_NE(find_megatron_flag(flag_of(row)), nullptr) << section.name << "." << row.name;
    }
  }
}

// The table of Megatron-Core's keys is behind that of NeMo's.
TEST(NemoKeys, KeysOfMegatronCoreAreKnownInTheModel) {
  const KeySection* const model = find_section(nemo_sections(), "model");
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(find_row(*model, "cp_comm_type")->meaning, KeyMeaning::kValue);
  EXPECT_EQ(find_row(*model, "encoder_seq_length")->flag, "seq-length");
  EXPECT_EQ(find_row(*model, "cp_com_type"), nullptr);
}

}  // namespace
}  // namespace ringwright::configs::nemo_keys_test
