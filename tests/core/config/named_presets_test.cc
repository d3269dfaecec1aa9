#include "core/config/named_presets.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/yaml_reader.h"
#include "tests/core/config/sample_reader.h"
#include "tests/paths.h"

namespace ringwright::named_presets_test {
namespace {

using ::testing::HasSubstr;

ConfigDocument loaded(const std::string& text, std::vector<std::string> overrides = {}) {
  auto document = ConfigDocument::load_text("t.yaml", text,
                                            {.overrides = std::move(overrides),
                                             .presets = {{"cluster.node", "nodes"}, {"cluster.node.gpu", "gpus"}},
                                             .share_folders = {ringwright::test_data() + "/core/config/share"}});
  EXPECT_TRUE(document) << (document ? "" : render(document.error()));
  return std::move(*document);
}

sample::Sample sample_of(const std::string& text, std::vector<std::string> overrides = {}) {
  ConfigDocument document = loaded(text, std::move(overrides));
  sample::Sample sample = sample::read(document.root());
  document.check_all_read();
  EXPECT_EQ(document.log().diagnostics().all().size(), 0U) << render(document.log().diagnostics());
  return sample;
}

TEST(NamedPresets, AreMapsThatNameThem) {
  const sample::Sample sample = sample_of("cluster: { nodes: 2, node: dgx-h100 }\n");
  EXPECT_EQ(sample.gpus, 8);
  EXPECT_EQ(sample.gpu_name, "H100 SXM5");
  EXPECT_EQ(sample_of("cluster: { nodes: 2, node: { preset: dgx-h100, gpu: h200 } }\n").gpu_name, "H200 SXM");
}

TEST(NamedPresets, OverAMapKeepItsOtherKeys) {
  const std::string text = "cluster: { nodes: 2, node: { preset: dgx-h100, gpus: 4, gpu: { name: Mine } } }\n";
  const sample::Sample sample = sample_of(text, {"cluster.node=dgx-h200", "cluster.node.gpu=h200"});
  EXPECT_EQ(sample.gpus, 4);
  EXPECT_EQ(sample.gpu_name, "Mine");
  EXPECT_EQ(sample_of(text, {"cluster={node: {gpu: h200}}"}).gpus, 4);
}

TEST(NamedPresets, UnderAMapKeepTheName) {
  const std::string text = "cluster: { nodes: 2, node: dgx-h100 }\n";
  EXPECT_EQ(sample_of(text, {"cluster.node.gpus=4"}).gpus, 4);
  EXPECT_EQ(sample_of(text, {"cluster.node.gpus=4"}).gpu_name, "H100 SXM5");
}

TEST(NamedPresets, AreReportedAtTheirWord) {
  const ConfigDocument document = loaded("cluster: { nodes: 2, node: dgx-h10 }\n");
  ASSERT_EQ(document.log().diagnostics().all().size(), 1U);
  EXPECT_THAT(render(document.log().diagnostics()),
              HasSubstr("t.yaml:1:28: error[E109]: 'cluster.node.preset' is 'dgx-h10'; did you mean 'dgx-h100'?\n"
                        "    1 | cluster: { nodes: 2, node: dgx-h10 }\n"
                        "      |                            ^^^^^^^\n"));
}

TEST(NamedPresets, OfAnotherKindAreSentThere) {
  const ConfigDocument document = loaded("cluster: { nodes: 2, node: h200 }\n");
  EXPECT_THAT(render(document.log().diagnostics()),
              HasSubstr("'cluster.node.preset' is 'h200', a preset of gpus, not of nodes"));
  EXPECT_THAT(render(document.log().diagnostics()), HasSubstr("--set cluster.node.gpu=h200"));
}

TEST(NamedPresets, StandOnlyWherePresetsDo) {
  ConfigSource source;
  source.name = "a.yaml";
  Diagnostics problems;
  auto root = read_yaml("car: red\nroads: [long, {to: red}]\nnumber: 2\n", source, problems);
  ASSERT_TRUE(root);
  name_presets(*root, std::vector<PresetRule>{{"car", "cars"}, {"roads[]", "roads"}, {"", "all"}}, "");
  EXPECT_NE(find_entry(find_entry(*root, "car")->value, "preset"), nullptr);
  const ConfigNode& roads = find_entry(*root, "roads")->value;
  EXPECT_NE(find_entry(roads.items[0], "preset"), nullptr);
  EXPECT_EQ(find_entry(roads.items[1], "preset"), nullptr);
  EXPECT_EQ(find_entry(*root, "number")->value.text, "2");
}

}  // namespace
}  // namespace ringwright::named_presets_test
