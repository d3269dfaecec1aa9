#include "core/config/config_map.h"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/config_document.h"
#include "tests/core/config/sample_reader.h"

namespace ringwright::config_map_test {
namespace {

using namespace literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ConfigDocument document_of(std::string_view text) {
  auto document = ConfigDocument::load_text("t.yaml", text);
  EXPECT_TRUE(document) << (document ? "" : render(document.error()));
  return std::move(*document);
}

std::string problems(ConfigDocument& document) {
  document.check_all_read();
  return document.log().diagnostics().all().empty() ? "" : render(document.log().diagnostics());
}

constexpr std::string_view kFull = R"(version: 1
name: full
tags: [a, "b c", 3]
parallel:
  tp: 8
  dp: 1_024
  schedule: gpipe
  overlap: false
  bucket: 25MB
  stage_layers: [7, 8, 7]
cluster:
  nodes: 2k
  node: { gpus: 8, nvlink: 450GB/s, gpu: { name: H100, peak: 989.4TFLOPS } }
  fabric:
    type: rail_optimized
    rails: 8
    leaf: { speed: 400Gbps, oversubscription: "2:1" }
    hop: 0.35us
compute: { efficiency: 0.65, max_error: 5% }
faults:
  - at: 2s
  - { at: 1min }
environment: { NCCL_ALGO: Ring, NCCL_DEBUG: INFO }
)";

TEST(ConfigMap, ReadsEveryKindOfValue) {
  ConfigDocument document = document_of(kFull);
  const sample::Sample sample = sample::read(document.root());
  EXPECT_EQ(problems(document), "");
  EXPECT_EQ(sample.name, "full");
  EXPECT_THAT(sample.tags, ElementsAre("a", "b c", "3"));
  EXPECT_EQ(sample.tp, 8);
  EXPECT_EQ(sample.dp, std::optional<std::int64_t>(1024));
  EXPECT_EQ(sample.schedule, "gpipe");
  EXPECT_FALSE(sample.overlap);
  EXPECT_EQ(sample.bucket, Bytes(25'000'000));
  EXPECT_THAT(sample.stage_layers, ElementsAre(7, 8, 7));
  EXPECT_EQ(sample.nodes, 2000);
  EXPECT_EQ(sample.peer_bandwidth, 450_GBps);
  EXPECT_EQ(sample.gpu_name, "H100");
  EXPECT_EQ(sample.peak, FlopRate(989.4e12));
  EXPECT_EQ(sample.speed, 400_Gbps);
  EXPECT_DOUBLE_EQ(sample.oversubscription, 2.0);
  EXPECT_EQ(sample.hop, 350_ns);
  EXPECT_DOUBLE_EQ(sample.efficiency, 0.65);
  EXPECT_DOUBLE_EQ(sample.max_error, 0.05);
  EXPECT_THAT(sample.fault_times, ElementsAre(2_s, 60_s));
}

TEST(ConfigMap, SuppliesDefaultsAndLogsThemAsSuch) {
  ConfigDocument document =
      document_of("cluster: { nodes: 1, node: { gpus: 1, nvlink: 1GB/s, gpu: { name: a, peak: 1TFLOPS } } }");
  const sample::Sample sample = sample::read(document.root());
  EXPECT_EQ(problems(document), "");
  EXPECT_EQ(sample.tp, 1);
  EXPECT_EQ(sample.dp, std::nullopt);
  EXPECT_EQ(sample.schedule, "1f1b");
  EXPECT_TRUE(sample.overlap);
  EXPECT_EQ(sample.bucket, 40_MiB);
  EXPECT_THAT(sample.stage_layers, IsEmpty());
  for (const ValueRead& value : document.log().values()) {
    if (value.path != "parallel.bucket") continue;
    EXPECT_EQ(value.text, "40MiB");
    EXPECT_EQ(value.canonical, "41943040");
    EXPECT_EQ(value.origin, "default");
    EXPECT_EQ(value.evidence, Evidence::kAssumed);
  }
}

TEST(ConfigMap, ReturnsSomethingHarmlessAfterAMistake) {
  ConfigDocument document = document_of("a: x\nb: y\nc: 0\nd: fast");
  ConfigMap root = document.root();
  EXPECT_EQ(root.integer({.name = "a", .doc = "", .fallback = 5}), 5);  // the fallback first
  EXPECT_EQ(root.integer({.name = "b", .doc = "", .min = 3}), 3);       // then the minimum
  EXPECT_EQ(root.integer({.name = "c", .doc = "", .max = -1}), 1);      // then 1
  EXPECT_EQ(root.bandwidth({.name = "d", .doc = ""}), Bandwidth(1.0));
  EXPECT_EQ(document.log().diagnostics().error_count(), 4U);
}

TEST(ConfigMap, GoesOnWithTheNearestOptionSoThatTheRestIsReadWithIt) {
  constexpr std::array kOptions = {Option{"ring", ""}, Option{"tree", ""}};
  ConfigDocument document = document_of("algorithm: rin\ntree_depth: 3");
  ConfigMap root = document.root();
  EXPECT_EQ(root.choice({.name = "algorithm", .doc = "", .fallback = "tree"}, kOptions), "ring");
}

TEST(ConfigMap, ReportsNothingMoreAboutAMapWhoseChoiceIsUnknown) {
  constexpr std::array kOptions = {Option{"ring", ""}, Option{"tree", ""}};
  ConfigDocument document = document_of("algorithm: hypercube\ncube_sides: 3");
  EXPECT_EQ(document.root().choice({.name = "algorithm", .doc = ""}, kOptions), "ring");
  document.check_all_read();
  ASSERT_EQ(document.log().diagnostics().all().size(), 1U);
  EXPECT_EQ(document.log().diagnostics().all()[0].code, "E107");
}

std::vector<std::string> all_codes(const ConfigDocument& document) {
  std::vector<std::string> codes;
  for (const Diagnostic& diagnostic : document.log().diagnostics().all()) codes.push_back(diagnostic.code);
  return codes;
}

TEST(ConfigMap, AMisspeltKeyIsNotMissingToo) {
  ConfigDocument document = document_of("training: { global_batc: 8, other: 1 }");
  ConfigMap training = document.root().map("training", "");
  static_cast<void>(training.integer({.name = "global_batch", .doc = ""}));
  static_cast<void>(training.integer({.name = "steps", .doc = ""}));
  document.check_all_read();
  EXPECT_EQ(all_codes(document), (std::vector<std::string>{"E104", "E102", "E102"}));
  EXPECT_EQ(document.log().diagnostics().error_count(), 3U);
  EXPECT_EQ(document.log().diagnostics().all()[0].message, "missing key 'training.steps'");
  EXPECT_EQ(document.log().diagnostics().all()[1].message,
            "unknown key 'training.global_batc'; did you mean 'global_batch', which is missing?");
}

TEST(ConfigMap, AMisspeltMapIsNotMissingToo) {
  ConfigDocument document = document_of("trainin: { global_batch: 8 }");
  static_cast<void>(document.root().map("training", "").integer({.name = "global_batch", .doc = ""}));
  document.check_all_read();
  ASSERT_EQ(all_codes(document), std::vector<std::string>{"E102"});
  EXPECT_EQ(document.log().diagnostics().all()[0].message,
            "unknown key 'trainin'; did you mean 'training', which is missing?");
}

TEST(ConfigMap, NothingIsReportedAboutTheValueUsedForAMissingOne) {
  ConfigDocument document = document_of("training: { micro_batch: 4 }");
  ConfigMap training = document.root().map("training", "");
  static_cast<void>(training.integer({.name = "global_batch", .doc = ""}));
  training.error("global_batch", "E136", "is not a multiple of micro_batch", "");
  EXPECT_EQ(all_codes(document), std::vector<std::string>{"E104"});
  training.error("micro_batch", "E136", "does not divide", "");
  EXPECT_EQ(all_codes(document), (std::vector<std::string>{"E104", "E136"}));
}

TEST(ConfigMap, ReportsOneMistakeOnceHoweverManyReadersFindIt) {
  ConfigDocument document = document_of("parallel: { tp: x }");
  for (int reader = 0; reader < 3; ++reader) {
    static_cast<void>(document.root().map("parallel", "").integer({.name = "tp", .doc = ""}));
  }
  EXPECT_EQ(document.log().diagnostics().error_count(), 1U);
}

TEST(ConfigMap, LetsSeveralReadersShareOneMap) {
  ConfigDocument document = document_of("node: { gpus: 8, nics: 4 }");
  EXPECT_EQ(document.root().map("node", "").integer({.name = "gpus", .doc = ""}), 8);
  EXPECT_EQ(document.root().map("node", "").integer({.name = "nics", .doc = ""}), 4);
  EXPECT_EQ(problems(document), "");
}

TEST(ConfigMap, ReadsTheWordOrTheNumber) {
  ConfigDocument document = document_of("a: auto\nb: 4\nc: max");
  ConfigMap root = document.root();
  EXPECT_EQ(root.integer_or({.name = "a", .doc = ""}, "auto"), std::nullopt);
  EXPECT_EQ(root.integer_or({.name = "b", .doc = ""}, "auto"), std::optional<std::int64_t>(4));
  EXPECT_EQ(root.integer_or({.name = "c", .doc = ""}, "max"), std::nullopt);
  EXPECT_EQ(root.integer_or({.name = "d", .doc = ""}, "auto"), std::nullopt);
  EXPECT_EQ(root.integer_or({.name = "e", .doc = "", .fallback = 2}, "auto"), std::optional<std::int64_t>(2));
  EXPECT_EQ(problems(document), "");
}

TEST(ConfigMap, KeepsTextAsItIsWhateverItLooksLike) {
  ConfigDocument document =
      document_of("a: 016\nb: true\nc: 1e3\nd: \"null\"\ne: 'it''s'\nf: \"\"\ng: |\n  two\n  lines\n");
  ConfigMap root = document.root();
  const auto text = [&](std::string_view name) { return root.text({.name = name, .doc = ""}); };
  EXPECT_EQ(text("a"), "016");
  EXPECT_EQ(text("b"), "true");
  EXPECT_EQ(text("c"), "1e3");
  EXPECT_EQ(text("d"), "null");
  EXPECT_EQ(text("e"), "it's");
  EXPECT_EQ(text("f"), "");
  EXPECT_EQ(text("g"), "two\nlines\n");
  EXPECT_EQ(problems(document), "");
}

TEST(ConfigMap, TakesProvenanceOfAnyScalar) {
  ConfigDocument document = document_of(
      "speed: { value: 400Gbps, evidence: measured, source: our iperf }\n"
      "tp: { value: 8 }\n"
      "layers: { value: [1, 2], evidence: calibrated }\n");
  ConfigMap root = document.root();
  EXPECT_EQ(root.bandwidth({.name = "speed", .doc = ""}), 400_Gbps);
  EXPECT_EQ(root.integer({.name = "tp", .doc = ""}), 8);
  EXPECT_THAT(root.integers({.name = "layers", .doc = ""}), ElementsAre(1, 2));
  EXPECT_EQ(root.evidence("speed"), Evidence::kMeasured);
  EXPECT_EQ(root.evidence("tp"), Evidence::kAssumed);
  EXPECT_EQ(root.evidence("layers"), Evidence::kCalibrated);
  EXPECT_EQ(root.evidence("absent"), Evidence::kAssumed);
  EXPECT_EQ(document.log().values()[0].source, "our iperf");
  EXPECT_EQ(problems(document), "");
}

TEST(ConfigMap, KnowsWhereValuesComeFrom) {
  ConfigDocument document = document_of("a:\n  b: 1\n");
  ConfigMap a = document.root().map("a", "");
  EXPECT_EQ(a.origin("b"), "t.yaml:2");
  EXPECT_EQ(a.origin("c"), "default");
  EXPECT_EQ(a.place("b").line, 2);
  EXPECT_EQ(a.place("b").column, 6);
  EXPECT_EQ(a.place("c").line, 1);  // of the map where it is missing
  EXPECT_EQ(a.path_of("b"), "a.b");
  EXPECT_EQ(document.root().path_of("a"), "a");
}

TEST(ConfigMap, PointsReadersErrorsAtTheValueOrAtTheMapThatLacksIt) {
  ConfigDocument document = document_of("parallel:\n  pp: 12\n");
  ConfigMap parallel = document.root().map("parallel", "");
  static_cast<void>(parallel.integer({.name = "pp", .doc = ""}));
  parallel.error("pp", "E131", "'parallel.pp' is 12 but must divide the 126 layers", "valid: 1 2 3 6 7 9 14 18");
  parallel.warn("tp", "W201", "'parallel.tp' is not given");
  EXPECT_EQ(problems(document),
            "t.yaml:2:7: error[E131]: 'parallel.pp' is 12 but must divide the 126 layers\n"
            "    2 |   pp: 12\n"
            "      |       ^^\n"
            "      valid: 1 2 3 6 7 9 14 18\n"
            "t.yaml:1:1: warning[W201]: 'parallel.tp' is not given\n"
            "    1 | parallel:\n"
            "      | ^^^^^^^^\n"
            "1 error, 1 warning\n");
}

TEST(ConfigMap, ListsWhatItIgnores) {
  ConfigDocument document = document_of("network: { type: alpha_beta, mtu: 4096B, ecn: { kmin: 1 } }");
  ConfigMap network = document.root().map("network", "");
  static_cast<void>(network.text({.name = "type", .doc = ""}));
  network.ignore_rest("alpha_beta has no packets");
  EXPECT_EQ(problems(document), "");
  ASSERT_EQ(document.log().ignored().size(), 2U);
  EXPECT_EQ(document.log().ignored()[0].path, "network.mtu");
  EXPECT_EQ(document.log().ignored()[0].why, "alpha_beta has no packets");
  EXPECT_EQ(document.log().ignored()[1].path, "network.ecn");
}

TEST(ConfigMap, ListsAssumptionsOnce) {
  ConfigDocument document = document_of("model: { layers: 2 }");
  ConfigMap model = document.root().map("model", "");
  static_cast<void>(model.integer({.name = "layers", .doc = ""}));
  model.assume("tied", "false", "not in the file");
  model.assume("tied", "false", "not in the file");
  ASSERT_EQ(document.log().assumptions().size(), 1U);
  EXPECT_EQ(document.log().assumptions()[0].path, "model.tied");
  EXPECT_EQ(document.log().assumptions()[0].value, "false");
}

TEST(ConfigMap, GivesTheNamesOfKeysThatAreData) {
  ConfigDocument document = document_of("environment: { NCCL_ALGO: Ring, NCCL_PROTO: LL }");
  ConfigMap environment = document.root().map("environment", "");
  EXPECT_THAT(environment.keys(), ElementsAre("NCCL_ALGO", "NCCL_PROTO"));
  EXPECT_TRUE(environment.has("NCCL_ALGO"));
  EXPECT_FALSE(environment.has("NCCL_DEBUG"));
}

TEST(ConfigMap, DoesNotCountHasAsReading) {
  ConfigDocument document = document_of("a: 1");
  EXPECT_TRUE(document.root().has("a"));
  document.check_all_read();
  EXPECT_EQ(document.log().diagnostics().error_count(), 1U);
}

TEST(ConfigMap, ChecksEveryMapOfAListForUnknownKeys) {
  ConfigDocument document = document_of("faults: [ { at: 1s }, { at: 2s, form: down } ]");
  for (ConfigMap fault : document.root().maps("faults", "")) {
    EXPECT_GT(fault.duration({.name = "at", .doc = ""}), 0_s);
  }
  EXPECT_EQ(problems(document),
            "t.yaml:1:33: error[E102]: unknown key 'faults[1].form'\n"
            "    1 | faults: [ { at: 1s }, { at: 2s, form: down } ]\n"
            "      |                                 ^^^^\n"
            "      known here: at\n"
            "1 error, 0 warnings\n");
}

TEST(ConfigMap, HoldsTheBoundsItIsGiven) {
  ConfigDocument document = document_of("a: 1\nb: 8\nc: 0\nd: 9\ne: 0Gbps\nf: -1us");
  ConfigMap root = document.root();
  const auto bounded = [&](std::string_view name) {
    return root.integer({.name = name, .doc = "", .min = 1, .max = 8});
  };
  EXPECT_EQ(bounded("a"), 1);
  EXPECT_EQ(bounded("b"), 8);
  EXPECT_EQ(document.log().diagnostics().error_count(), 0U);
  static_cast<void>(bounded("c"));
  static_cast<void>(bounded("d"));
  EXPECT_EQ(document.log().diagnostics().error_count(), 2U);
  // A rate of 0 and a negative time are allowed only where the reader sets such a range.
  EXPECT_EQ(root.bandwidth({.name = "e", .doc = "", .min = Bandwidth(0.0)}), Bandwidth(0.0));
  EXPECT_EQ(root.duration({.name = "f", .doc = "", .min = Duration(-2'000'000)}), Duration(-1'000'000));
  EXPECT_EQ(document.log().diagnostics().error_count(), 2U);
}

TEST(ConfigMap, GivesValuesOfAnotherConfigurationAsSetTakesThem) {
  ConfigDocument document = document_of(
      "set: {parallel.tp: 8, cluster.node: {preset: dgx-h100}, ratio: \"2:1\", empty: [], name: \"two words\"}\n"
      "list: [1, [2, 3], {a: b c}]\nname: two words");
  ConfigMap root = document.root();
  ConfigMap set = root.map("set", "");
  EXPECT_EQ(set.setting("parallel.tp"), "8");
  EXPECT_EQ(set.setting("cluster.node"), "{preset: dgx-h100}");
  EXPECT_EQ(set.setting("ratio"), "\"2:1\"");
  EXPECT_EQ(set.setting("empty"), "[]");
  EXPECT_EQ(set.setting("name"), "\"two words\"");
  EXPECT_EQ(set.setting("missing"), "");
  EXPECT_THAT(root.settings("list"), ElementsAre("1", "[2, 3]", "{a: \"b c\"}"));
  EXPECT_EQ(root.remark("name"), "two words");
  EXPECT_THAT(document.log().values(), IsEmpty());
  EXPECT_EQ(problems(document), "");
}

TEST(ConfigMap, AsksForAListWhereSettingsAreOne) {
  ConfigDocument document = document_of("a: 4");
  EXPECT_THAT(document.root().settings("a"), IsEmpty());
  EXPECT_EQ(problems(document),
            "t.yaml:1:4: error[E105]: 'a' must be a list, not '4'\n"
            "    1 | a: 4\n"
            "      |    ^\n"
            "      write [4]\n"
            "1 error, 0 warnings\n");
}

}  // namespace
}  // namespace ringwright::config_map_test
