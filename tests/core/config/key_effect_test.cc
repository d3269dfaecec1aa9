#include "core/config/key_effect.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::key_effect_test {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

ValueRead value(std::string path, std::string canonical, std::string origin = "job.yaml:1") {
  return {.path = std::move(path), .text = {}, .canonical = std::move(canonical), .origin = std::move(origin),
          .source = {}};
}

TEST(SettingValues, AConditionHoldsWhereOneOfItsAlternativesDoes) {
  ConfigLog log;
  log.add(value("model", "chunks"));
  log.add(value("tp", "8"));
  SettingValues values(log);
  values.add("fact", "yes");
  for (const char* holds : {"model=chunks", "model=steps | tp=8", "tp>7 & fact=yes", "model!=steps", "unread!=x"}) {
    EXPECT_TRUE(values.holds(holds)) << holds;
  }
  for (const char* fails : {"", "model=steps", "tp>8", "tp=8 & fact=no", "unread=x", "unread>0"}) {
    EXPECT_FALSE(values.holds(fails)) << fails;
  }
}

TEST(KeyEffect, SpeaksAboutAKeyAndAllBelowIt) {
  EXPECT_TRUE(speaks_about({.keys = "comm.costs", .needs = {}, .why = {}}, "comm.costs.ll.hop"));
  EXPECT_TRUE(speaks_about({.keys = "faults[].link", .needs = {}, .why = {}}, "faults[2].link"));
  EXPECT_TRUE(speaks_about({.keys = "collectives.*.from", .needs = {}, .why = {}}, "collectives.tp.from"));
  EXPECT_FALSE(speaks_about({.keys = "comm.costs", .needs = {}, .why = {}}, "comm.cost"));
  EXPECT_FALSE(speaks_about({.keys = "comm.costs", .needs = {}, .why = {}}, "comm"));
}

// Values of presets and defaults are not given by the user.
TEST(KeyEffect, ListsWhatTheUserGaveInVain) {
  constexpr std::array kEffects = {KeyEffect{.keys = "comm.costs", .needs = "model=chunks", .why = "only chunks"}};
  ConfigLog log;
  log.add(value("model", "steps"));
  log.add(value("comm.costs.launch", "1"));
  log.add(value("comm.costs.flush", "1", "preset:dgx-h100.yaml:3"));
  log.add(value("comm.version", "1"));
  list_without_effect(kEffects, SettingValues(log), log);
  EXPECT_THAT(log.ignored(), ElementsAre(Field(&IgnoredKey::path, "comm.costs")));
  ConfigLog chunks;
  chunks.add(value("model", "chunks"));
  chunks.add(value("comm.costs.launch", "1"));
  list_without_effect(kEffects, SettingValues(chunks), chunks);
  EXPECT_THAT(chunks.ignored(), IsEmpty());
}

}  // namespace
}  // namespace ringwright::key_effect_test
