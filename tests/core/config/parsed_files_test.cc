#include "core/config/parsed_files.h"

#include <gtest/gtest.h>

namespace ringwright::parsed_files_test {
namespace {

TEST(ParsedFiles, GiveEachReaderATreeOfItsOwnSource) {
  ParsedFiles files;
  Diagnostics problems;
  for (const char* name : {"first.yaml", "second.yaml", "third.yaml"}) {
    ConfigSource source{.name = name};
    auto root = files.read("a: {b: [1, 2]}\n", source, problems);
    ASSERT_TRUE(root);
    EXPECT_EQ(source.lines, std::vector<std::string>({"a: {b: [1, 2]}"}));
    const ConfigNode& item = root->entries[0].value.entries[0].value.items[1];
    EXPECT_EQ(origin_of(item), std::string(name) + ":1");
    EXPECT_EQ(item.column, 12);
    root->entries.clear();  // a reader's tree is its own
  }
  EXPECT_TRUE(problems.all().empty());
}

TEST(ParsedFiles, ReportAFindingToEachReader) {
  ParsedFiles files;
  for (int reader = 0; reader < 2; ++reader) {
    Diagnostics problems;
    ConfigSource source{.name = "wrong.yaml"};
    static_cast<void>(files.read("a: 1\na: 2\n", source, problems));
    EXPECT_EQ(problems.error_count(), 1U) << reader;
  }
}

TEST(ParsedFiles, OfJsonAreNotThoseOfYaml) {
  ParsedFiles files;
  Diagnostics problems;
  ConfigSource yaml{.name = "a.yaml"};
  ConfigSource json{.name = "a.json"};
  const std::string text = R"({"a": null, "b": 1})";
  const auto as_yaml = files.read(text, yaml, problems);
  const auto as_json = files.read(text, json, problems);
  ASSERT_TRUE(as_yaml && as_json);
  EXPECT_EQ(as_yaml->entries.size(), 2U);
  EXPECT_EQ(as_json->entries.size(), 1U) << "null means that the key is not given";
}

TEST(ParsedFiles, ForgetsWhenThereAreTooMany) {
  ParsedFiles files(100);
  Diagnostics problems;
  for (int file = 0; file < 40; ++file) {
    ConfigSource source{.name = "one.yaml"};
    const auto root = files.read("a: " + std::to_string(file % 20), source, problems);
    ASSERT_TRUE(root);
    EXPECT_EQ(root->entries[0].value.text, std::to_string(file % 20));
  }
}

}  // namespace
}  // namespace ringwright::parsed_files_test
