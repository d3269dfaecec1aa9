#include "core/config/config_document.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/config/sample_reader.h"
#include "tests/paths.h"

namespace ringwright::config_document_test {
namespace {

namespace fs = std::filesystem;
using namespace literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kShare = ringwright::test_data() + "/core/config/share";

LoadOptions with_presets(std::vector<std::string> overrides = {}) {
  return {.overrides = std::move(overrides),
          .presets = {{"cluster.node", "nodes"}, {"cluster.node.gpu", "gpus"}, {"nodes[]", "nodes"}},
          .share_folders = {kShare}};
}

ConfigDocument loaded(Result<ConfigDocument> document) {
  EXPECT_TRUE(document) << (document ? "" : render(document.error()));
  return std::move(*document);
}

// Files of one test, in a temporary folder.
class ConfigFiles : public ::testing::Test {
 protected:
  ConfigFiles() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / (std::string("ringwright_config_") + test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~ConfigFiles() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string without_folder(std::string text) const {
    const std::string prefix = folder_.string() + "/";
    for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) text.erase(at, prefix.size());
    return text;
  }

  fs::path folder_;
};

std::int64_t integer(ConfigMap map, std::string_view name) {
  return map.integer({.name = name, .doc = "", .fallback = -1});
}

TEST(ConfigDocument, MergesAPresetUnderTheKeysThatAreGiven) {
  ConfigDocument document = loaded(ConfigDocument::load_text(
      "t.yaml", "cluster: { nodes: 2, node: { preset: dgx-h100, gpus: 4, gpu: { peak: 900TFLOPS } } }",
      with_presets()));
  const sample::Sample sample = sample::read(document.root());
  document.check_all_read();
  EXPECT_EQ(document.log().diagnostics().all().size(), 0U) << render(document.log().diagnostics());
  EXPECT_EQ(sample.gpus, 4);                   // the scenario's own
  EXPECT_EQ(sample.peer_bandwidth, 450_GBps);  // of the node preset
  EXPECT_EQ(sample.gpu_name, "H100 SXM5");     // of the GPU preset that the node preset names
  EXPECT_EQ(sample.peak, 900_TFLOPS);          // the scenario's own, two levels below the preset
}

TEST(ConfigDocument, LetsAPresetBuildOnAPresetAndOnAFileNextToIt) {
  ConfigDocument document =
      loaded(ConfigDocument::load_text("t.yaml", "cluster: { nodes: 2, node: { preset: dgx-h200 } }", with_presets()));
  const sample::Sample sample = sample::read(document.root());
  document.check_all_read();
  EXPECT_EQ(document.log().diagnostics().all().size(), 0U) << render(document.log().diagnostics());
  EXPECT_EQ(sample.gpus, 8);                   // dgx-h200 has the preset dgx-h100
  EXPECT_EQ(sample.gpu_name, "H200 SXM");      // h200.yaml
  EXPECT_EQ(sample.peak, FlopRate(989.4e12));  // which extends h100.yaml
}

TEST(ConfigDocument, LetsOverridesChooseThePreset) {
  ConfigDocument document = loaded(ConfigDocument::load_text(
      "t.yaml", "cluster: { nodes: 2, node: { preset: abacus } }", with_presets({"cluster.node.preset=dgx-h100"})));
  EXPECT_EQ(sample::read(document.root()).gpus, 8);
  EXPECT_FALSE(document.log().diagnostics().has_errors());
}

TEST(ConfigDocument, ExpandsPresetsInListsOfMaps) {
  ConfigDocument document = loaded(ConfigDocument::load_text(
      "t.yaml", "nodes:\n  - preset: dgx-h100\n  - { preset: dgx-h100, gpus: 2 }\n", with_presets()));
  std::vector<std::int64_t> gpus;
  for (ConfigMap node : document.root().maps("nodes", "")) gpus.push_back(integer(node, "gpus"));
  EXPECT_THAT(gpus, ElementsAre(8, 2));
}

TEST(ConfigDocument, CarriesEvidenceAndOriginThroughPresets) {
  ConfigDocument document = loaded(ConfigDocument::load_text(
      "t.yaml", "cluster:\n  nodes: 2\n  node: { preset: dgx-h100, gpu: { peak: 900TFLOPS } }\n", with_presets()));
  ConfigMap node = document.root().map("cluster", "").map("node", "");
  EXPECT_EQ(node.origin("gpus"), "preset:dgx-h100.yaml:4");
  EXPECT_EQ(node.evidence("gpus"), Evidence::kVendorSpec);  // of the file
  EXPECT_EQ(node.evidence("nvlink"), Evidence::kMeasured);  // of the value
  ConfigMap gpu = node.map("gpu", "");
  EXPECT_EQ(gpu.origin("name"), "preset:h100.yaml:3");
  EXPECT_EQ(gpu.origin("peak"), "t.yaml:3");
  EXPECT_EQ(gpu.evidence("peak"), Evidence::kAssumed);  // the user's number is not the vendor's
}

TEST(ConfigDocument, ReplacesAValueTogetherWithItsProvenance) {
  ConfigDocument document = loaded(ConfigDocument::load_text(
      "t.yaml", "cluster: { nodes: 1, node: { preset: dgx-h100 } }", with_presets({"cluster.node.nvlink=100GB/s"})));
  ConfigMap node = document.root().map("cluster", "").map("node", "");
  EXPECT_EQ(node.bandwidth({.name = "nvlink", .doc = ""}), 100_GBps);
  EXPECT_EQ(node.evidence("nvlink"), Evidence::kAssumed);
  EXPECT_EQ(node.origin("nvlink"), "--set:1");
}

TEST(ConfigDocument, ListsThePresetsOfAFolder) {
  EXPECT_THAT(preset_names(with_presets(), "gpus"), ElementsAre("h100", "h200"));
  EXPECT_THAT(preset_names(with_presets(), "spoons"), ElementsAre());
}

TEST(ConfigDocument, AppliesOverridesInOrderAndTheLastOneWins) {
  ConfigDocument document = loaded(ConfigDocument::load_text(
      "t.yaml", "parallel: { tp: 1, pp: 2 }",
      {.overrides = {"parallel.tp=4", "parallel.tp=8", "parallel.stage_layers=[7, 8]", "new.section.key=1"}}));
  ConfigMap parallel = document.root().map("parallel", "");
  EXPECT_EQ(integer(parallel, "tp"), 8);
  EXPECT_EQ(integer(parallel, "pp"), 2);
  EXPECT_EQ(parallel.origin("tp"), "--set:2");
  EXPECT_EQ(parallel.place("tp").file, "--set:2");
  EXPECT_THAT(parallel.integers({.name = "stage_layers", .doc = ""}), ElementsAre(7, 8));
  EXPECT_EQ(integer(document.root().map("new", "").map("section", ""), "key"), 1);
}

TEST(ConfigDocument, RefusesEmptyMapsThatWouldChangeNothing) {
  const auto problems = [](const char* text, const char* setting) {
    return render(loaded(ConfigDocument::load_text("t.yaml", text, {.overrides = {setting}})).log().diagnostics());
  };
  EXPECT_THAT(problems("zero: {stage: 1}\n", "zero={}"), HasSubstr("'zero' is an empty map, which changes nothing"));
  EXPECT_THAT(problems("tp: 1\n", "fsdp={}"), HasSubstr("0 errors"));           // a new one
  EXPECT_THAT(problems("faults: [{}]\n", "faults=[]"), HasSubstr("0 errors"));  // lists are replaced
}

TEST(ConfigDocument, TakesOverridesThatAreWholeMaps) {
  ConfigDocument document = loaded(ConfigDocument::load_text("t.yaml", "parallel: { tp: 1, pp: 2 }",
                                                             {.overrides = {"parallel={tp: 4, cp: \"a=b\"}"}}));
  ConfigMap parallel = document.root().map("parallel", "");
  EXPECT_EQ(integer(parallel, "tp"), 4);
  EXPECT_EQ(integer(parallel, "pp"), 2);
  EXPECT_EQ(parallel.text({.name = "cp", .doc = ""}), "a=b");
}

TEST_F(ConfigFiles, BuildOnAnotherFileKeyByKey) {
  write("base/common.yaml", "name: common\nparallel: { tp: 1, pp: 2, stage_layers: [1, 2, 3] }\nonly: 3\n");
  write("base/middle.yaml", "extends: common.yaml\nparallel: { pp: 4 }\n");
  const std::string top = write("top.yaml", "extends: base/middle.yaml\nparallel: { tp: 8, stage_layers: [9] }\n");
  ConfigDocument document = loaded(ConfigDocument::load(top, {.overrides = {"only=4"}}));
  ConfigMap root = document.root();
  ConfigMap parallel = root.map("parallel", "");
  EXPECT_EQ(integer(parallel, "tp"), 8);                                                // top
  EXPECT_EQ(integer(parallel, "pp"), 4);                                                // middle over common
  EXPECT_THAT(parallel.integers({.name = "stage_layers", .doc = ""}), ElementsAre(9));  // lists are replaced
  EXPECT_EQ(root.text({.name = "name", .doc = ""}), "common");
  EXPECT_EQ(integer(root, "only"), 4);
  EXPECT_EQ(without_folder(parallel.origin("pp")), "base/middle.yaml:2");
  EXPECT_EQ(without_folder(root.origin("name")), "base/common.yaml:1");
  document.check_all_read();
  EXPECT_FALSE(document.log().diagnostics().has_errors()) << render(document.log().diagnostics());
  std::vector<std::string> names;
  for (const auto& source : document.sources()) names.push_back(without_folder(source->name));
  EXPECT_THAT(names, ElementsAre("top.yaml", "base/middle.yaml", "base/common.yaml", "--set:1"));
}

TEST_F(ConfigFiles, BuildOnAShippedFileByName) {
  write("share/scenarios/llama.yaml", "extends: common.yaml\nparallel: { tp: 1, pp: 2 }\n");
  write("share/scenarios/common.yaml", "only: 3\n");
  const LoadOptions options{.share_folders = {(folder_ / "share").string()}};
  const std::string top = write("top.yaml", "extends: llama\nparallel: { tp: 8 }\n");
  ConfigDocument document = loaded(ConfigDocument::load(top, options));
  ConfigMap parallel = document.root().map("parallel", "");
  EXPECT_EQ(integer(parallel, "tp"), 8);
  EXPECT_EQ(integer(parallel, "pp"), 2);
  EXPECT_EQ(integer(document.root(), "only"), 3);
  EXPECT_EQ(parallel.origin("pp"), "llama.yaml:2");  // no folder of the installation

  write("llama", "parallel: { pp: 16 }\n");  // a file of one's own comes first
  ConfigDocument own = loaded(ConfigDocument::load(top, options));
  EXPECT_EQ(integer(own.root().map("parallel", ""), "pp"), 16);

  const ConfigDocument wrong = loaded(ConfigDocument::load(write("wrong.yaml", "extends: lama\n"), options));
  EXPECT_THAT(render(wrong.log().diagnostics()), HasSubstr("did you mean 'llama'?"));
}

TEST_F(ConfigFiles, PointAtTheFileInWhichTheMistakeStands) {
  write("base.yaml", "parallel:\n  tp: eight\n");
  const std::string top = write("top.yaml", "extends: base.yaml\nparallel: { pp: 2 }\n");
  ConfigDocument document = loaded(ConfigDocument::load(top));
  static_cast<void>(integer(document.root().map("parallel", ""), "tp"));
  EXPECT_EQ(without_folder(render(document.log().diagnostics().all()[0])),
            "base.yaml:2:7: error[E105]: 'parallel.tp' must be an integer, not 'eight'\n"
            "    2 |   tp: eight\n"
            "      |       ^^^^^\n");
}

TEST_F(ConfigFiles, InALongCycleAreRefused) {
  write("a.yaml", "extends: b.yaml\n");
  write("b.yaml", "extends: c.yaml\n");
  write("c.yaml", "extends: a.yaml\n");
  ConfigDocument document = loaded(ConfigDocument::load((folder_ / "a.yaml").string()));
  document.check_all_read();
  ASSERT_EQ(document.log().diagnostics().error_count(), 1U) << render(document.log().diagnostics());
  EXPECT_EQ(without_folder(render(document.log().diagnostics().all()[0])),
            "c.yaml:1:10: error[E109]: 'extends' forms a cycle: a.yaml -> b.yaml -> c.yaml -> a.yaml\n"
            "    1 | extends: a.yaml\n"
            "      |          ^^^^^^\n");
}

TEST_F(ConfigFiles, MayExtendManyOthers) {
  write("0.yaml", "tp: 8\n");
  for (int file = 1; file <= 80; ++file) {
    write(fmt::format("{}.yaml", file), fmt::format("extends: {}.yaml\n", file - 1));
  }
  ConfigDocument document = loaded(ConfigDocument::load((folder_ / "40.yaml").string()));
  EXPECT_EQ(integer(document.root(), "tp"), 8);
  document.check_all_read();
  EXPECT_FALSE(document.log().diagnostics().has_errors());
  const ConfigDocument deep = loaded(ConfigDocument::load((folder_ / "80.yaml").string()));
  EXPECT_THAT(render(deep.log().diagnostics().all()[0]), HasSubstr("more than 64 files"));
}

TEST_F(ConfigFiles, OfOnesOwnStandWherePresetsDo) {
  write("parts/node.yaml", "preset: dgx-h100\ngpus: 4\ngpu: { preset: chip.yaml }\n");
  const std::string chip = write("parts/chip.yaml", "preset: h100\nname: Mine\n");
  const std::string top = write("top.yaml", "cluster: { nodes: 2, node: { preset: parts/node.yaml } }\n");
  ConfigDocument document = loaded(ConfigDocument::load(top, with_presets()));
  const sample::Sample sample = sample::read(document.root());
  EXPECT_EQ(sample.gpus, 4);
  EXPECT_EQ(sample.peer_bandwidth, 450_GBps);  // of dgx-h100
  EXPECT_EQ(sample.gpu_name, "Mine");
  EXPECT_EQ(sample.peak, FlopRate(989.4e12));  // of h100
  ConfigMap gpu = document.root().map("cluster", "").map("node", "").map("gpu", "");
  EXPECT_EQ(without_folder(gpu.origin("name")), "parts/chip.yaml:2");
  // An override's path is relative to the working directory.
  const std::string plain = write("plain.yaml", "cluster: { nodes: 2, node: { preset: dgx-h100 } }\n");
  ConfigDocument overridden = loaded(ConfigDocument::load(plain, with_presets({"cluster.node.gpu.preset=" + chip})));
  EXPECT_EQ(sample::read(overridden.root()).gpu_name, "Mine");
}

TEST_F(ConfigFiles, InsteadOfPresetsAreRefusedWithTheirName) {
  write("chip.yaml", "preset: chip.yaml\n");
  const std::string top =
      write("top.yaml", "cluster:\n  node: { preset: chop.yaml }\nnodes:\n  - { preset: chip.yaml }\n");
  ConfigDocument document = loaded(ConfigDocument::load(top, with_presets()));
  const auto& reported = document.log().diagnostics().all();
  ASSERT_EQ(reported.size(), 2U) << render(document.log().diagnostics());
  EXPECT_EQ(without_folder(render(reported[0])),
            "top.yaml:2:19: error[E109]: 'cluster.node.preset' cannot read 'chop.yaml': no such file\n"
            "    2 |   node: { preset: chop.yaml }\n"
            "      |                   ^^^^^^^^^\n"
            "      did you mean 'chip.yaml'?\n");
  EXPECT_THAT(reported[1].message, HasSubstr("forms a cycle: chip.yaml -> chip.yaml"));
}

TEST_F(ConfigFiles, MissingAreAnsweredWithTheNearestName) {
  write("llama.yaml", "name: x\n");
  const auto document = ConfigDocument::load((folder_ / "lama.yaml").string());
  ASSERT_FALSE(document);
  EXPECT_EQ(without_folder(render(document.error())),
            "error[E100]: cannot read 'lama.yaml': no such file\n"
            "      did you mean 'llama.yaml'?\n"
            "1 error, 0 warnings\n");
  const auto directory = ConfigDocument::load(folder_.string());
  ASSERT_FALSE(directory);
  EXPECT_THAT(render(directory.error()), HasSubstr("it is a directory"));
}

TEST_F(ConfigFiles, WithoutEndAreCutOff) {
  const auto document = ConfigDocument::load("/dev/zero");
  ASSERT_FALSE(document);
  EXPECT_THAT(render(document.error()),
              HasSubstr("error[E100]: cannot read '/dev/zero': it is a device or a socket, not a file"));
}

TEST_F(ConfigFiles, StateTheEvidenceOfAllTheirValues) {
  const std::string path = write("own.yaml", "evidence: measured\nsource: our cluster, May\nspeed: 1GB/s\n");
  ConfigDocument document = loaded(ConfigDocument::load(path));
  ConfigMap root = document.root();
  static_cast<void>(root.bandwidth({.name = "speed", .doc = ""}));
  document.check_all_read();
  EXPECT_FALSE(document.log().diagnostics().has_errors());
  EXPECT_EQ(document.log().values()[0].evidence, Evidence::kMeasured);
  EXPECT_EQ(document.log().values()[0].source, "our cluster, May");
}

TEST_F(ConfigFiles, InJsonMeanTheSameAsInYaml) {
  const std::string yaml =
      write("a.yaml", "name: \"ä/b \\U0001F600\"\ntp: 8\nrate: 1e-05\nlist: [1, 2]\nmap: { on: true }\n");
  const std::string json =
      write("a.json", R"({"name": "\u00e4\/b \ud83d\ude00", "tp": 8, "rate": 1e-05, "nothing": null,
	"list": [1, 2],
	"map": {"on": true}})");
  const auto read = [](ConfigDocument document) {
    ConfigMap root = document.root();
    static_cast<void>(root.text({.name = "name", .doc = ""}));
    static_cast<void>(integer(root, "tp"));
    static_cast<void>(root.number({.name = "rate", .doc = ""}));
    static_cast<void>(root.integers({.name = "list", .doc = ""}));
    static_cast<void>(root.map("map", "").boolean({.name = "on", .doc = ""}));
    document.check_all_read();
    EXPECT_EQ(document.log().diagnostics().all().size(), 0U) << render(document.log().diagnostics());
    return canonical_text(document.log());
  };
  const std::string from_yaml = read(loaded(ConfigDocument::load(yaml)));
  EXPECT_EQ(from_yaml, "list=[1, 2]\nmap.on=true\nname=ä/b 😀\nrate=1e-05\ntp=8\n");
  EXPECT_EQ(read(loaded(ConfigDocument::load(json))), from_yaml);
}

TEST(ConfigDocument, FailsOnBrokenSyntaxOnly) {
  EXPECT_FALSE(ConfigDocument::load_text("t.yaml", "a: [1"));
  EXPECT_TRUE(ConfigDocument::load_text("t.yaml", "a: 1\na: 2\n"));
  EXPECT_TRUE(ConfigDocument::load_text("t.yaml", "a: 1\n", {.overrides = {"nonsense"}}));
}

TEST(ConfigDocument, StaysInPlaceWhenMoved) {
  ConfigDocument first = loaded(ConfigDocument::load_text("t.yaml", "a: 1"));
  ConfigMap root = first.root();
  const ConfigDocument second = std::move(first);
  EXPECT_EQ(integer(root, "a"), 1);
  EXPECT_EQ(second.log().values().size(), 1U);
}

TEST(ChangedDocument, HasOtherValuesAndKeepsTheRest) {
  const ConfigDocument base = loaded(ConfigDocument::load_text("t.yaml", "a: 1\nb: {c: 2, d: 3}\n"));
  ConfigDocument copy = base.changed({.settings = {"b.c=5", "e=6"}, .removed = {"a", "b.nothing", "x.y"}});
  ConfigMap root = copy.root();
  EXPECT_FALSE(root.has("a"));
  ConfigMap below = root.map("b", "");
  EXPECT_EQ(integer(below, "c"), 5);
  EXPECT_EQ(integer(below, "d"), 3);
  EXPECT_EQ(integer(root, "e"), 6);
  EXPECT_EQ(base.yaml(), "a: 1\nb: {c: 2, d: 3}\n");
}

// Where the keys of an outlined map are written is known, their values are not.
TEST(ChangedDocument, CopiesOnlyTheKeysOfAnOutlinedMap) {
  const ConfigDocument base = loaded(ConfigDocument::load_text("t.yaml", "a: 1\nb:\n  c: 2\n  d: {e: 3}\nf: {g: 4}\n"));
  ConfigDocument copy = base.changed({}, std::array{std::string_view("b")});
  EXPECT_TRUE(copy.names("b.d"));
  EXPECT_FALSE(copy.names("b.d.e"));
  EXPECT_TRUE(copy.names("f.g"));
  ConfigMap root = copy.root();
  EXPECT_EQ(root.map("b", "").origin("c"), "t.yaml:3");
}

// A key may be removed and set again: a map is replaced, not merged with what it was.
TEST(ChangedDocument, RemovesBeforeItSets) {
  const ConfigDocument base = loaded(ConfigDocument::load_text("t.yaml", "b: {c: 2, d: 3}\n"));
  EXPECT_EQ(base.changed({.settings = {"b.d=4"}, .removed = {"b"}}).yaml(), "b: {d: 4}\n");
}

TEST(ChangedDocument, LeavesPresetsToThemselvesWhenWritten) {
  const ConfigDocument base =
      loaded(ConfigDocument::load_text("t.yaml", "cluster: {node: {preset: dgx-h100}}\n", with_presets()));
  EXPECT_EQ(base.changed({.settings = {"cluster.nodes=2"}}).yaml(), "cluster: {node: {preset: dgx-h100}, nodes: 2}\n");
}

TEST(ChangedDocument, ReportsUnreadKeys) {
  const ConfigDocument base = loaded(ConfigDocument::load_text("t.yaml", "a: 1\n"));
  ConfigDocument copy = base.changed({.settings = {"aa=2"}});
  ConfigMap root = copy.root();
  EXPECT_EQ(integer(root, "a"), 1);
  copy.check_all_read();
  ASSERT_EQ(copy.log().diagnostics().error_count(), 1U);
  EXPECT_THAT(copy.log().diagnostics().all().back().message, HasSubstr("unknown key 'aa'"));
}

TEST(ConfigDocumentNames, LooksAlongThePathAndLeavesNoTrace) {
  const auto document = ConfigDocument::load_text("a.yaml", "training: {deepspeed: ds.json}\nmegatron: run.sh\n");
  ASSERT_TRUE(document.has_value());
  EXPECT_TRUE(document->names("training.deepspeed"));
  EXPECT_TRUE(document->names("megatron"));
  EXPECT_FALSE(document->names("training.micro_batch"));
  EXPECT_FALSE(document->names("megatron.deeper"));
  EXPECT_FALSE(document->names("parallel.tp"));
  EXPECT_TRUE(document->log().values().empty());
}

}  // namespace
}  // namespace ringwright::config_document_test
