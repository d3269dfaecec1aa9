#include "core/config/config_log.h"

#include <string>

#include <gtest/gtest.h>

#include "core/base/sha256.h"
#include "core/config/config_document.h"
#include "tests/core/config/sample_reader.h"
#include "tests/paths.h"

namespace ringwright::config_log_test {
namespace {

ConfigDocument read_sample(std::string_view text, std::vector<std::string> overrides = {}) {
  const std::string share = ringwright::test_data() + "/core/config/share";
  auto document = ConfigDocument::load_text("t.yaml", text,
                                            {.overrides = std::move(overrides),
                                             .presets = {{"cluster.node", "nodes"}, {"cluster.node.gpu", "gpus"}},
                                             .share_folders = {share}});
  EXPECT_TRUE(document);
  static_cast<void>(sample::read(document->root()));
  return std::move(*document);
}

// What is read, and every mistake, stay the same.
TEST(ConfigLog, LeavesOutReadsAndNoMistakes) {
  for (const char* const text : {"parallel: {tp: 8}\ncluster: {nodes: 2, node: {gpus: 8}}\n",
                                 "parallel: {tp: x}\ncluster: {nodes: -1}\n"}) {
    auto whole = ConfigDocument::load_text("t.yaml", text, {});
    auto brief = ConfigDocument::load_text("t.yaml", text, {});
    ASSERT_TRUE(whole && brief);
    brief->log().record_only_mistakes();
    const sample::Sample all = sample::read(whole->root()), same = sample::read(brief->root());
    whole->check_all_read();
    brief->check_all_read();
    EXPECT_EQ(all.tp, same.tp);
    EXPECT_EQ(all.gpus, same.gpus);
    EXPECT_EQ(all.hop, same.hop);
    EXPECT_FALSE(whole->log().values().empty());
    EXPECT_TRUE(brief->log().values().empty());
    EXPECT_EQ(render(whole->log().diagnostics()), render(brief->log().diagnostics()));
  }
}

TEST(ConfigLog, SuggestsNoKeyWithoutThoseAskedFor) {
  auto brief = ConfigDocument::load_text("t.yaml", "parallel: {tpp: 8}\ncluster: {nodes: 2}\n", {});
  ASSERT_TRUE(brief);
  brief->log().record_only_mistakes();
  static_cast<void>(sample::read(brief->root()));
  brief->check_all_read();
  ASSERT_EQ(brief->log().diagnostics().all().back().code, "E102");
  EXPECT_EQ(brief->log().diagnostics().all().back().message, "unknown key 'parallel.tpp'");
}

TEST(ResolvedText, NamesTheOriginOfEveryValue) {
  const ConfigDocument document = read_sample(
      "parallel: { tp: 8 }\ncluster: { nodes: 2, node: { preset: dgx-h100 } }\n", {"compute.efficiency=0.8"});
  EXPECT_EQ(
      resolved_text(document.log()),
      "cluster.fabric.hop = 350ns                # default\n"
      "cluster.fabric.leaf.oversubscription = 1  # default\n"
      "cluster.fabric.leaf.speed = 50GB/s        # default\n"
      "cluster.fabric.type = fat_tree            # default\n"
      "cluster.node.gpu.name = H100 SXM5         # preset:h100.yaml:3, vendor-spec: NVIDIA H100 data sheet\n"
      "cluster.node.gpu.peak = 989.4TFLOPS       # preset:h100.yaml:4, vendor-spec: NVIDIA H100 data sheet\n"
      "cluster.node.gpus = 8                     # preset:dgx-h100.yaml:4, vendor-spec: NVIDIA DGX H100 data sheet\n"
      "cluster.node.nvlink = 450GB/s             # preset:dgx-h100.yaml:5, measured: nccl-tests\n"
      "cluster.nodes = 2                         # t.yaml:2\n"
      "compute.efficiency = 0.8                  # --set:1\n"
      "compute.max_error = 0.1                   # default\n"
      "name = unnamed                            # default\n"
      "parallel.bucket = 40MiB                   # default\n"
      "parallel.dp = auto                        # default\n"
      "parallel.overlap = true                   # default\n"
      "parallel.schedule = 1f1b                  # default\n"
      "parallel.stage_layers = []                # default\n"
      "parallel.tp = 8                           # t.yaml:1\n"
      "tags = []                                 # default\n"
      "version = 1                               # default\n");
}

TEST(CanonicalText, IsTheSameHoweverTheValuesAreWritten) {
  const ConfigDocument plain = read_sample(
      "parallel: { tp: 8, bucket: 1MiB }\n"
      "cluster: { nodes: 2000, node: { preset: dgx-h100 }, fabric: { leaf: { speed: 400Gbps, oversubscription: 2 } } "
      "}\n");
  const ConfigDocument other = read_sample(
      "# another order, other units, a default written out\n"
      "cluster:\n"
      "  fabric: { leaf: { oversubscription: \"2:1\", speed: { value: 50GB/s, evidence: measured } }, type: fat_tree "
      "}\n"
      "  node: { preset: dgx-h100, gpus: 8 }\n"
      "  nodes: 2k\n"
      "parallel: { bucket: 1048576B }\n",
      {"parallel.tp=8"});
  EXPECT_EQ(canonical_text(plain.log()), canonical_text(other.log()));
}

TEST(CanonicalText, DiffersWhenAValueDoes) {
  const std::string base = "cluster: { nodes: 2, node: { preset: dgx-h100 } }";
  const ConfigDocument one = read_sample(base);
  const ConfigDocument two = read_sample(base, {"parallel.tp=2"});
  EXPECT_NE(sha256(canonical_text(one.log())), sha256(canonical_text(two.log())));
}

TEST(ConfigLog, KeepsTheFirstReadingOfAPath) {
  ConfigLog log;
  log.add(ValueRead{.path = "a", .text = "1", .canonical = "1", .origin = "default", .source = {}});
  log.add(ValueRead{.path = "a", .text = "2", .canonical = "2", .origin = "default", .source = {}});
  ASSERT_EQ(log.values().size(), 1U);
  EXPECT_EQ(log.values()[0].text, "1");
}

TEST(ConfigLog, DistinguishesDifferentMistakesAtOneLocation) {
  ConfigLog log;
  const auto problem = [](std::string message) {
    return Diagnostic{
        .code = "E1", .place = {"a.yaml", 1, 1}, .message = std::move(message), .excerpt = {}, .hint = {}};
  };
  log.add(problem("x"));
  log.add(problem("y"));
  log.add(problem("x"));
  EXPECT_EQ(log.diagnostics().error_count(), 2U);
}

}  // namespace
}  // namespace ringwright::config_log_test
