#include "validation/tables/yaml_text.h"

#include <gtest/gtest.h>

namespace ringwright::validation::yaml_text_test {
namespace {

TEST(YamlText, NestsMapsAsPathsSay) {
  YamlText yaml;
  yaml.set("parallel.tp", "8");
  yaml.set("cluster.node.preset", "dgx-a100");
  yaml.set("parallel.zero.stage", "1");
  yaml.set("cluster.nodes", "2");
  EXPECT_EQ(yaml.text(), "parallel: {tp: 8, zero: {stage: 1}}\ncluster: {node: {preset: dgx-a100}, nodes: 2}\n");
}

TEST(YamlText, ALaterValueReplacesAnEarlierOne) {
  YamlText yaml;
  yaml.set("a", "1");
  yaml.set("a", "2");
  EXPECT_EQ(yaml.text(), "a: 2\n");
}

TEST(YamlText, QuotesWords) { EXPECT_EQ(yaml_quoted("a \"b\" \\"), "\"a \\\"b\\\" \\\\\""); }

}  // namespace
}  // namespace ringwright::validation::yaml_text_test
