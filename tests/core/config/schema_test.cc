#include "core/config/schema.h"

#include <regex>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/config/config_document.h"
#include "core/config/scalar.h"
#include "tests/core/config/sample_reader.h"

namespace ringwright::schema_test {
namespace {

using Json = nlohmann::json;

Json sample_schema() {
  ConfigDocument document = ConfigDocument::for_documentation();
  static_cast<void>(sample::read(document.root()));
  const std::vector<PresetRule> presets = {{"cluster.node", "nodes"}, {"cluster.node.gpu", "gpus"}};
  return Json::parse(json_schema(document.log().docs(), presets, "ringwright scenario"));
}

// The schema of a plain value, next to the form with its provenance.
const Json& plain(const Json& schema) {
  return schema.at("anyOf").at(0);
}

TEST(Schema, IsDraft07AndClosed) {
  const Json schema = sample_schema();
  EXPECT_EQ(schema.at("$schema"), "http://json-schema.org/draft-07/schema#");
  EXPECT_EQ(schema.at("title"), "ringwright scenario");
  EXPECT_EQ(schema.at("additionalProperties"), false);
  EXPECT_EQ(schema.at("/properties/parallel/additionalProperties"_json_pointer), false);
  EXPECT_TRUE(schema.at("properties").contains("extends"));
}

TEST(Schema, DescribesEveryKey) {
  const Json schema = sample_schema();
  const Json& tp = schema.at("/properties/parallel/properties/tp"_json_pointer);
  EXPECT_EQ(tp.at("description"), "tensor-model-parallel size (default 1)");
  EXPECT_EQ(plain(plain(tp)).at("type"), "integer");
  EXPECT_EQ(plain(plain(tp)).at("minimum"), 1);
  const Json& nodes = schema.at("/properties/cluster/properties/nodes"_json_pointer);
  EXPECT_EQ(plain(plain(nodes)).at("maximum"), 131072);
  EXPECT_EQ(nodes.at("description"), "machines in the cluster (required)");
}

TEST(Schema, ListsOptionsInTheirOrder) {
  const Json schedule = sample_schema().at("/properties/parallel/properties/schedule"_json_pointer);
  EXPECT_EQ(plain(schedule).at("enum"), Json({"gpipe", "1f1b", "interleaved-1f1b"}));
}

TEST(Schema, TakesProvenanceOfEveryScalar) {
  const Json speed =
      sample_schema().at("/properties/cluster/properties/fabric/properties/leaf/properties/speed"_json_pointer);
  const Json& long_form = speed.at("anyOf").at(1);
  EXPECT_EQ(long_form.at("required"), Json({"value"}));
  EXPECT_EQ(long_form.at("/properties/value"_json_pointer), plain(speed));
  EXPECT_EQ(long_form.at("additionalProperties"), false);
}

TEST(Schema, HasItemsForListsOfMapsAndOpenMapsForData) {
  const Json schema = sample_schema();
  EXPECT_TRUE(schema.contains("/properties/faults/items/properties/at"_json_pointer));
  EXPECT_EQ(schema.at("/properties/faults/items/additionalProperties"_json_pointer), false);
  EXPECT_EQ(schema.at("/properties/environment/additionalProperties"_json_pointer), true);
}

// Settings of another map are of any type: `set: {faults: [{node: 3}]}`. Maps of a list may be open as well.
TEST(Schema, OpenMapsTakeListsAndMaps) {
  ConfigDocument document = ConfigDocument::for_documentation();
  for (ConfigMap& change : document.root().maps("changes", "of the rest")) {
    for (const ConfigMap& fault : change.maps("faults", "as elsewhere")) static_cast<void>(fault.keys());
  }
  const Json schema = Json::parse(json_schema(document.log().docs(), {}, "changes"));
  EXPECT_EQ(schema.at("/properties/changes/items/additionalProperties"_json_pointer), false);
  EXPECT_EQ(schema.at("/properties/changes/items/properties/faults/items/additionalProperties"_json_pointer), true);
}

TEST(Schema, OffersPresetsWhereTheyAreRead) {
  const Json schema = sample_schema();
  EXPECT_TRUE(schema.contains("/properties/cluster/properties/node/anyOf/0/properties/preset"_json_pointer));
  EXPECT_TRUE(schema.contains(
      "/properties/cluster/properties/node/anyOf/0/properties/gpu/anyOf/0/properties/preset"_json_pointer));
  EXPECT_EQ(schema.at("/properties/cluster/properties/node/anyOf/1/type"_json_pointer), "string");
  EXPECT_FALSE(schema.contains("/properties/parallel/properties/preset"_json_pointer));
}

TEST(Schema, PatternsAndReaderAgreeOnQuantities) {
  const std::regex pattern(
      plain(sample_schema().at("/properties/cluster/properties/fabric/properties/leaf/properties/speed"_json_pointer))
          .at("pattern")
          .get<std::string>());
  for (const char* text :
       {"400Gbps", "50GB/s", "50 GB/s", "1_000Mbps", "0.5Tbps", ".5Tbps", "5e1GB/s", "1.5e-1TB/s", "400", "400 ",
        "fast", "400gbps", "400Gbps ", "GB/s", "400  Gbps", "1.Gbps", "+1Gbps", "40GiB"}) {
    EXPECT_EQ(std::regex_match(text, pattern), read_bandwidth(text).has_value()) << text;
  }
}

TEST(Schema, PatternsAndReaderAgreeOnIntegersThatAreNoYamlIntegers) {
  const std::regex pattern(plain(sample_schema().at("/properties/parallel/properties/tp"_json_pointer))
                               .at("anyOf")
                               .at(1)
                               .at("pattern")
                               .get<std::string>());
  for (const char* text : {"128k", "1_000", "2M", "1.5k", "128K", "k", "eight", "1 k", "8GiB"}) {
    EXPECT_EQ(std::regex_match(text, pattern), read_integer(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace ringwright::schema_test
