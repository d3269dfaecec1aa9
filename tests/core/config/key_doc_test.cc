#include "core/config/key_doc.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/config_document.h"
#include "tests/core/config/sample_reader.h"

namespace ringwright::key_doc_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<KeyDoc> sample_docs() {
  ConfigDocument document = ConfigDocument::for_documentation();
  static_cast<void>(sample::read(document.root()));
  EXPECT_TRUE(document.log().diagnostics().all().empty());
  EXPECT_TRUE(document.log().values().empty());
  return document.log().docs();
}

TEST(ExplainKey, StatesTypeRangeDefaultAndMeaning) {
  const auto docs = sample_docs();
  EXPECT_EQ(explain_key(docs, "parallel.tp"),
            "parallel.tp: an integer, at least 1, default 1\n  tensor-model-parallel size\n");
  EXPECT_EQ(explain_key(docs, "cluster.nodes"),
            "cluster.nodes: an integer, between 1 and 131072, required\n  machines in the cluster\n");
  EXPECT_EQ(explain_key(docs, "cluster.fabric.hop"),
            "cluster.fabric.hop: a time with a unit, like 1.2us, at most 1ms, default 350ns\n  latency of a switch\n");
  EXPECT_EQ(explain_key(docs, "parallel.dp"),
            "parallel.dp: an integer, at least 1, or the word 'auto', default auto\n  data-parallel size\n");
}

TEST(ExplainKey, ListsOptionsAndKeysBelow) {
  const auto docs = sample_docs();
  EXPECT_EQ(explain_key(docs, "parallel.schedule"),
            "parallel.schedule: a word, default 1f1b\n"
            "  order of microbatches\n"
            "  gpipe             all forward, then all backward\n"
            "  1f1b              one forward, one backward\n"
            "  interleaved-1f1b  several virtual stages on each rank\n");
  EXPECT_EQ(explain_key(docs, "cluster"), "cluster: a map\n  the machines\n  keys: nodes, node, fabric\n");
}

TEST(ExplainKey, KnowsTheEntriesOfListsByAnyIndex) {
  const auto docs = sample_docs();
  const std::string page = "faults[].at: a time with a unit, like 1.2us, required\n  simulated time\n";
  EXPECT_EQ(explain_key(docs, "faults[].at"), page);
  EXPECT_EQ(explain_key(docs, "faults[17].at"), page);
  EXPECT_EQ(explain_key(docs, "faults"), "faults: a list of maps\n  what breaks, and when\n  keys: at\n");
}

TEST(ExplainKey, VisitsBranchesThatNoFileTakes) {
  // rails is read for rail_optimized only, and fat_tree is the default.
  EXPECT_EQ(explain_key(sample_docs(), "cluster.fabric.rails"),
            "cluster.fabric.rails: an integer, at least 1, default 8\n  NICs of a node\n");
}

TEST(NearKeys, FindTyposAndOtherSections) {
  const auto docs = sample_docs();
  EXPECT_EQ(explain_key(docs, "parallel.tpp"), "");
  EXPECT_THAT(near_keys(docs, "parallel.shedule"), Contains("parallel.schedule"));
  EXPECT_EQ(near_keys(docs, "parallel.shedule").front(), "parallel.schedule");
  EXPECT_THAT(near_keys(docs, "fabric.oversubscription"), Contains("cluster.fabric.leaf.oversubscription"));
  EXPECT_THAT(near_keys(docs, "zzzzzzzz"), IsEmpty());
}

TEST(KeyDocs, KeepEveryDeclarationOfAKeyThatTwoReadersShare) {
  ConfigDocument document = ConfigDocument::for_documentation();
  for (int twice = 0; twice < 2; ++twice) {
    static_cast<void>(document.root().integer({.name = "k", .doc = "ports of a switch"}));
    static_cast<void>(document.root().integer({.name = "k", .doc = "side of a torus", .fallback = 4}));
  }
  EXPECT_EQ(explain_key(document.log().docs(), "k"),
            "k: an integer, required\n  ports of a switch\nk: an integer, default 4\n  side of a torus\n");
}

TEST(KeyDocs, NameADefaultThatFollowsFromOtherValues) {
  ConfigDocument document = ConfigDocument::for_documentation();
  static_cast<void>(document.root().bandwidth(
      {.name = "speed", .doc = "of one port", .fallback = Bandwidth(1.0), .usual = "that of a NIC"}));
  EXPECT_THAT(explain_key(document.log().docs(), "speed"), testing::HasSubstr(", default that of a NIC\n"));
}

TEST(ExplainKey, NeedsNeitherBracketsNorTheWholePath) {
  const auto docs = sample_docs();
  EXPECT_EQ(explain_key(docs, "faults.at"), explain_key(docs, "faults[].at"));
  EXPECT_EQ(explain_key(docs, "oversubscription"), explain_key(docs, "cluster.fabric.leaf.oversubscription"));
  EXPECT_EQ(explain_key(docs, "name"), "name: a text, default unnamed\n  of the scenario\n");
}

}  // namespace
}  // namespace ringwright::key_doc_test
