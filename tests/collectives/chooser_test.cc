// The rules of the simple tuner, and user overrides.
#include "collectives/chooser.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "core/config/config_document.h"

namespace ringwright::collectives::chooser_test {
namespace {

using namespace ringwright::literals;
using testing::HasSubstr;

const std::vector<std::string>& dimension_names() {
  static const std::vector<std::string> names = {"tp", "cp", "ep", "dp", "pp"};
  return names;
}

SimpleChooser chooser_by_rule(bool hosts_have_nvls, bool use_nvls = true) {
  return {ChooserSettings{.use_nvls = use_nvls, .choices = {}},
          ChooserFacts{.dimensions = dimension_names(), .hosts_have_nvls = hosts_have_nvls}};
}

SimpleChooser chooser_with(std::string_view dimension, std::string_view algorithm, bool hosts_have_nvls = false) {
  return {ChooserSettings{.use_nvls = true,
                          .choices = {{.dimension = std::string(dimension), .algorithm = find_algorithm(algorithm)}}},
          ChooserFacts{.dimensions = dimension_names(), .hosts_have_nvls = hosts_have_nvls}};
}

CollectiveCall call_on(const GroupLayout& layout, CollectiveKind kind, Bytes bytes) {
  return {.kind = kind, .bytes = bytes, .layout = &layout, .dimension = DimensionId(3), .root = 0};  // dp
}

std::string_view choice(const SimpleChooser& chooser, const GroupLayout& layout, CollectiveKind kind, Bytes bytes) {
  return chooser.choose(call_on(layout, kind, bytes)).name();
}

TEST(SimpleChooser, ReducesInTheSwitchOfAHostWhereThatGains) {
  const SimpleChooser chooser = chooser_by_rule(true);
  const GroupLayout eight = make_block_layout(8, 8);
  EXPECT_EQ(choice(chooser, eight, CollectiveKind::kAllReduce, 64_MiB), "in_switch");
  EXPECT_EQ(choice(chooser, eight, CollectiveKind::kAllReduce, 64_KiB), "ring");
  EXPECT_EQ(choice(chooser, make_block_layout(4, 4), CollectiveKind::kAllReduce, 64_MiB), "ring");
  EXPECT_EQ(choice(chooser, eight, CollectiveKind::kAllGather, 64_MiB), "ring");  // only all-reduce gains
}

TEST(SimpleChooser, LeavesNvlsAloneWithoutTheHardwareOrWhenTurnedOff) {
  const GroupLayout eight = make_block_layout(8, 8);
  EXPECT_EQ(choice(chooser_by_rule(false), eight, CollectiveKind::kAllReduce, 64_MiB), "ring");
  EXPECT_EQ(choice(chooser_by_rule(true, false), eight, CollectiveKind::kAllReduce, 64_MiB), "ring");
}

TEST(SimpleChooser, TakesATreeForSmallAndRingsForLargeAllReducesOverHosts) {
  const SimpleChooser chooser = chooser_by_rule(false);
  const GroupLayout one_each = make_block_layout(64, 1);
  const GroupLayout eight_each = make_block_layout(64, 8);
  const GroupLayout uneven = make_block_layout(60, 8);
  // The crossing is at 256 KiB a member: 16 MiB for 64 of them.
  EXPECT_EQ(choice(chooser, one_each, CollectiveKind::kAllReduce, Bytes((16 << 20) - 1)), "double_tree");
  EXPECT_EQ(choice(chooser, one_each, CollectiveKind::kAllReduce, 16_MiB), "ring");
  EXPECT_EQ(choice(chooser, eight_each, CollectiveKind::kAllReduce, 1_MiB), "double_tree");
  EXPECT_EQ(choice(chooser, eight_each, CollectiveKind::kAllReduce, 1_GiB), "rail_rings");
  EXPECT_EQ(choice(chooser, uneven, CollectiveKind::kAllReduce, 1_GiB), "ring");
}

TEST(SimpleChooser, JoinsHostsThatReduceByTrees) {
  const SimpleChooser chooser = chooser_by_rule(true);
  EXPECT_EQ(choice(chooser, make_block_layout(64, 8), CollectiveKind::kAllReduce, 1_GiB), "nvls_tree");
  EXPECT_EQ(choice(chooser, make_block_layout(64, 8), CollectiveKind::kAllReduce, 64_KiB), "double_tree");
  EXPECT_EQ(choice(chooser, make_block_layout(64, 4), CollectiveKind::kAllReduce, 1_GiB), "rail_rings");
}

TEST(SimpleChooser, SwapsTinyBuffersWholeAcrossHosts) {
  const SimpleChooser chooser = chooser_by_rule(true);
  EXPECT_EQ(choice(chooser, make_block_layout(280, 8), CollectiveKind::kAllReduce, 4_B), "recursive_multiplying");
  EXPECT_EQ(choice(chooser, make_block_layout(8, 8), CollectiveKind::kAllReduce, 4_B), "ring");
}

TEST(SimpleChooser, UsesRingsForGathersAndScatters) {
  const SimpleChooser chooser = chooser_by_rule(true);
  const GroupLayout eight_each = make_block_layout(64, 8);
  const GroupLayout one_each = make_block_layout(64, 1);
  EXPECT_EQ(choice(chooser, eight_each, CollectiveKind::kAllGather, 1_GiB), "rail_rings");
  EXPECT_EQ(choice(chooser, eight_each, CollectiveKind::kReduceScatter, 1_GiB), "rail_rings");
  EXPECT_EQ(choice(chooser, one_each, CollectiveKind::kReduceScatter, 1_GiB), "ring");
  EXPECT_EQ(choice(chooser, one_each, CollectiveKind::kBroadcast, 1_GiB), "ring");
  EXPECT_EQ(choice(chooser, one_each, CollectiveKind::kReduce, 1_GiB), "ring");
}

TEST(SimpleChooser, ExchangesAtOnceUntilThePeersAreTooMany) {
  const SimpleChooser chooser = chooser_by_rule(false);
  EXPECT_EQ(choice(chooser, make_block_layout(256, 8), CollectiveKind::kAllToAll, 1_MiB), "direct");
  EXPECT_EQ(choice(chooser, make_block_layout(257, 8), CollectiveKind::kAllToAll, 1_MiB), "pairwise");
}

TEST(SimpleChooser, ChoosesWhatSupportsTheCallWhateverItIs) {
  for (const bool nvls : {false, true}) {
    const SimpleChooser chooser = chooser_by_rule(nvls);
    for (const int ranks : {1, 2, 3, 5, 8, 15, 16, 64, 300}) {
      for (const int per_host : {1, 2, 4, 8, 72}) {
        const GroupLayout layout = make_block_layout(ranks, per_host);
        for (const CollectiveKind kind :
             {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
              CollectiveKind::kAllToAll, CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
          for (const Bytes bytes : {0_B, 1_B, 1_MiB, 1_GiB}) {
            const CollectiveCall call = call_on(layout, kind, bytes);
            EXPECT_TRUE(chooser.choose(call).supports(call)) << to_string(kind) << ranks << "/" << per_host;
            EXPECT_EQ(chooser.check(call), "");
          }
        }
      }
    }
  }
}

TEST(SimpleChooser, FollowsTheUserInTheDimensionThatTheyNamed) {
  const SimpleChooser chooser = chooser_with("dp", "hierarchical");
  const GroupLayout layout = make_block_layout(64, 8);
  CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, 1_GiB);
  EXPECT_EQ(chooser.choose(call).name(), "hierarchical");
  call.dimension = DimensionId(0);
  EXPECT_EQ(chooser.choose(call).name(), "rail_rings");
}

TEST(SimpleChooser, LeavesCollectivesBelowTheUsersSizeToTheRule) {
  const SimpleChooser chooser(
      ChooserSettings{.use_nvls = true,
                      .choices = {{.dimension = "dp", .algorithm = find_algorithm("halving_doubling"), .from = 1_MiB}}},
      ChooserFacts{.dimensions = dimension_names()});
  const GroupLayout layout = make_block_layout(64, 1);
  EXPECT_EQ(choice(chooser, layout, CollectiveKind::kAllReduce, 1_MiB), "halving_doubling");
  EXPECT_EQ(choice(chooser, layout, CollectiveKind::kAllReduce, 4_B), "recursive_multiplying");
  // 12 members are no power of two; a small gather does not use halving and doubling.
  const GroupLayout twelve = make_block_layout(12, 1);
  EXPECT_NE(chooser.check(call_on(twelve, CollectiveKind::kAllGather, 1_MiB)), "");
  EXPECT_EQ(chooser.check(call_on(twelve, CollectiveKind::kAllGather, 1_KiB)), "");
}

TEST(SimpleChooser, ReportsWhyAChoiceDoesNotSupportACallAndWhichDo) {
  const GroupLayout layout = make_block_layout(12, 8);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllGather, 1_GiB);
  EXPECT_EQ(chooser_with("dp", "halving_doubling").check(call),
            "'halving_doubling' does not support the all_gather of dimension 'dp' (12 ranks on 2 hosts, 4 to 8 on "
            "each); supported: ring, bruck, neighbor_exchange, direct");
  EXPECT_EQ(chooser_with("tp", "halving_doubling").check(call), "");
}

TEST(SimpleChooser, RefusesInSwitchReductionWithoutTheHardware) {
  const GroupLayout layout = make_block_layout(8, 8);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, 1_GiB);
  EXPECT_THAT(chooser_with("dp", "in_switch").check(call),
              HasSubstr("'in_switch' needs hosts whose NVSwitches reduce"));
  EXPECT_EQ(chooser_with("dp", "in_switch", true).check(call), "");
}

// --- reading the settings ---

struct Loaded {
  ChooserSettings settings;
  std::string problems;
};

Loaded read(std::string_view yaml) {
  auto document = ConfigDocument::load_text("job.yaml", yaml);
  if (!document) return {.settings = {}, .problems = render(document.error())};
  ConfigMap root = document->root();
  Loaded loaded{.settings = read_chooser_settings(root.map("collectives", "how they are simulated"), dimension_names()),
                .problems = {}};
  document->check_all_read();
  if (document->log().diagnostics().has_errors()) loaded.problems = render(document->log().diagnostics());
  return loaded;
}

TEST(ChooserSettings, DefaultToTheRulesWithNvls) {
  const Loaded loaded = read("collectives: {tuner: simple}\n");
  EXPECT_EQ(loaded.problems, "");
  EXPECT_TRUE(loaded.settings.use_nvls);
  for (const DimensionChoice& choice : loaded.settings.choices) EXPECT_EQ(choice.algorithm, nullptr);
}

TEST(ChooserSettings, TakeAnAlgorithmForADimension) {
  const Loaded loaded = read("collectives:\n  nvls: false\n  dp: {algorithm: double_tree}\n  tp: {algorithm: auto}\n");
  EXPECT_EQ(loaded.problems, "");
  EXPECT_FALSE(loaded.settings.use_nvls);
  for (const DimensionChoice& choice : loaded.settings.choices) {
    EXPECT_EQ(choice.algorithm, choice.dimension == "dp" ? find_algorithm("double_tree") : nullptr);
  }
}

TEST(ChooserSettings, SuggestTheAlgorithmThatWasMeant) {
  EXPECT_THAT(read("collectives:\n  dp: {algorithm: duble_tree}\n").problems,
              testing::AllOf(HasSubstr("job.yaml:2:"), HasSubstr("E107"), HasSubstr("double_tree")));
}

TEST(ChooserSettings, KnowNoOtherTunersAndDimensions) {
  EXPECT_THAT(read("collectives: {tuner: best}\n").problems, testing::AllOf(HasSubstr("E107"), HasSubstr("simple")));
  EXPECT_THAT(read("collectives: {ddp: {algorithm: ring}}\n").problems, HasSubstr("E102"));
}

}  // namespace
}  // namespace ringwright::collectives::chooser_test
