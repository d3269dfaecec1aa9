#include "configs/scenario/imports/hydra/hydra_value.h"

#include <string>

#include <gtest/gtest.h>

#include "core/config/yaml_reader.h"

namespace ringwright::configs::hydra_value_test {
namespace {

struct Read {
  ConfigSource source{.name = "run.yaml", .kind = SourceKind::kFile, .path = {}, .lines = {}};
  Diagnostics problems;
  ConfigNode root;

  explicit Read(const std::string& value) : root(read_yaml("key: " + value + "\n", source, problems).value()) {}
  [[nodiscard]] HydraValue value() const { return value_of({.path = "key", .node = &root.entries.front().value}); }
};

std::string word_of(const std::string& value) {
  return Read(value).value().word.text;
}

TEST(HydraValue, TypesAreNamedAsOnTheCommandLine) {
  EXPECT_EQ(word_of("{_target_: torch.bfloat16, _call_: false}"), "bf16");
  EXPECT_EQ(word_of("torch.float32"), "fp32");
  EXPECT_EQ(word_of("uint8"), "fp8");
  EXPECT_EQ(word_of("torch.int64"), "torch.int64");
}

// By the number of a member, or by its name where the dump has it.
TEST(HydraValue, EnumsAreTheirMembers) {
  EXPECT_EQ(word_of("{_target_: megatron.core.transformer.enums.AttnBackend, _args_: [1], _call_: true}"), "flash");
  EXPECT_EQ(word_of("{_target_: megatron.core.transformer.enums.AttnBackend, _args_: [5], _call_: true}"), "auto");
  EXPECT_EQ(word_of("{_target_: signal.Signals, _args_: [15], _name_: SIGTERM}"), "SIGTERM");
  EXPECT_EQ(word_of("{_target_: torch.nn.functional.silu, _call_: false}"), "torch.nn.functional.silu");
}

TEST(HydraValue, ListsAreWholeAndByItems) {
  const HydraValue value = Read("[127, {_target_: torch.half}, [a, b]]").value();
  EXPECT_EQ(value.kind, HydraKind::kList);
  EXPECT_EQ(value.word.text, "[127, fp16, [a, b]]");
  ASSERT_EQ(value.items.size(), 3U);
  EXPECT_EQ(value.items[1].text, "fp16");
  EXPECT_EQ(value.items[1].column, 12);
}

TEST(HydraValue, NothingIsNullOrEmpty) {
  for (const char* nothing : {"null", "~", "None", "[]", "{}", ""}) {
    EXPECT_EQ(Read(nothing).value().kind, HydraKind::kNothing) << nothing;
  }
  EXPECT_EQ(Read("'None'").value().kind, HydraKind::kWord);
  EXPECT_EQ(value_of({.path = "absent", .node = nullptr}).kind, HydraKind::kNothing);
  EXPECT_EQ(Read("{lora: 8}").value().kind, HydraKind::kMap);
}

TEST(HydraValue, OpenValuesAreNotResolved) {
  EXPECT_FALSE(Read("${oc.env:TP}").value().word.resolved);
  EXPECT_FALSE(Read("???").value().word.resolved);
  EXPECT_TRUE(Read("8").value().word.resolved);
}

TEST(HydraValue, SwitchesAreWrittenInManyForms) {
  for (const char* on : {"true", "True", "yes", "on", "1"}) EXPECT_EQ(switch_of(on), true) << on;
  for (const char* off : {"false", "False", "no", "OFF", "0"}) EXPECT_EQ(switch_of(off), false) << off;
  for (const char* neither : {"", "2", "maybe", "null"}) EXPECT_EQ(switch_of(neither), std::nullopt) << neither;
}

}  // namespace
}  // namespace ringwright::configs::hydra_value_test
