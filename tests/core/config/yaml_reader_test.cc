#include "core/config/yaml_reader.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace ringwright::yaml_reader_test {
namespace {

struct Tree {
  ConfigSource source;
  Diagnostics problems;
  std::optional<ConfigNode> root;
};

// Nodes point at the source, so the tree is filled in its final location.
void read(Tree& tree, std::string_view text, std::string name = "t.yaml") {
  tree.source.name = std::move(name);
  tree.root = read_yaml(text, tree.source, tree.problems);
}

const ConfigNode& at(const ConfigNode& map, std::string_view key) {
  return find_entry(map, key)->value;
}

TEST(YamlReader, CountsLinesAndColumnsFromOne) {
  Tree tree;
  read(tree, "a: 1\nb:\n  c: \"x y\"\n  d: [5, {e: 6}]\n");
  const ConfigNode& c = at(at(*tree.root, "b"), "c");
  EXPECT_EQ(c.line, 3);
  EXPECT_EQ(c.column, 6);
  EXPECT_EQ(c.length, 5);  // with the quotes
  EXPECT_EQ(c.key_line, 3);
  EXPECT_EQ(c.key_column, 3);
  EXPECT_TRUE(c.quoted);
  const ConfigNode& e = at(at(at(*tree.root, "b"), "d").items[1], "e");
  EXPECT_EQ(e.line, 4);
  EXPECT_EQ(e.column, 14);
  EXPECT_EQ(e.text, "6");
}

TEST(YamlReader, CountsColumnsInCharactersNotBytes) {
  Tree tree;
  read(tree, "größe: { ä: \"ü\", b: 2 }\n");
  const ConfigNode& map = at(*tree.root, "größe");
  EXPECT_EQ(map.key_length, 5);
  EXPECT_EQ(map.column, 8);
  EXPECT_EQ(at(map, "ä").length, 3);
  EXPECT_EQ(at(map, "b").column, 21);
}

TEST(YamlReader, TakesByteOrderMarksAndWindowsLineEnds) {
  Tree tree;
  read(tree,
       "\xEF\xBB\xBF"
       "a: 1\r\nb: 2\r\n");
  ASSERT_TRUE(tree.root);
  EXPECT_EQ(at(*tree.root, "a").column, 4);
  EXPECT_EQ(at(*tree.root, "b").line, 2);
  EXPECT_EQ(tree.source.lines[0], "a: 1");
}

TEST(YamlReader, CopiesWhatAnAliasNames) {
  Tree tree;
  read(tree, "a: &x { b: 1 }\nc: *x\nd: [*x, *x]\n");
  ASSERT_TRUE(tree.root) << render(tree.problems);
  EXPECT_EQ(at(at(*tree.root, "c"), "b").text, "1");
  EXPECT_EQ(at(*tree.root, "c").key_line, 2);       // the key has its own location
  EXPECT_EQ(at(at(*tree.root, "c"), "b").line, 1);  // the value has the location where it is written
  EXPECT_EQ(at(at(*tree.root, "d").items[1], "b").text, "1");
}

TEST(YamlReader, DistinguishesNullFromTheWord) {
  Tree tree;
  read(tree, "a:\nb: ~\nc: null\nd: \"null\"\ne: ''\n");
  for (const char* key : {"a", "b", "c"}) EXPECT_EQ(at(*tree.root, key).kind, ConfigKind::kNull) << key;
  for (const char* key : {"d", "e"}) EXPECT_EQ(at(*tree.root, key).kind, ConfigKind::kScalar) << key;
  EXPECT_EQ(at(*tree.root, "a").line, 1);  // of its key
}

TEST(YamlReader, FindsTheEndOfEveryQuote) {
  Tree tree;
  read(tree, "a: 'it''s'\nb: \"say \\\"hi\\\"\" # \"\nc: \"two\n  lines\"\nd: |\n  \"open\n");
  ASSERT_TRUE(tree.root) << render(tree.problems);
  EXPECT_EQ(at(*tree.root, "a").length, 7);
  EXPECT_EQ(at(*tree.root, "b").length, 12);
  EXPECT_EQ(at(*tree.root, "c").text, "two lines");
  EXPECT_EQ(at(*tree.root, "d").text, "\"open\n");
}

TEST(YamlReader, TakesTheFirstOfDuplicateKeys) {
  Tree tree;
  read(tree, "a: 1\na: 2\n");
  ASSERT_TRUE(tree.root);
  EXPECT_EQ(at(*tree.root, "a").text, "1");
  EXPECT_EQ(tree.problems.error_count(), 1U);
}

TEST(YamlReader, TakesNullInJsonForAKeyThatIsNotGiven) {
  Tree json;
  read(json, R"({"a": null, "b": "null"})", "t.json");
  EXPECT_EQ(find_entry(*json.root, "a"), nullptr);
  EXPECT_NE(find_entry(*json.root, "b"), nullptr);
}

TEST(YamlReader, ReadsJsonEscapes) {
  Tree json;
  read(json, R"({"a": "\u00e9\/\"\\\t", "b": "\ud83d\ude00", "c": "\\ud83d\\ude00"})", "t.json");
  ASSERT_TRUE(json.root) << render(json.problems);
  EXPECT_EQ(at(*json.root, "b").text, "😀");
  EXPECT_EQ(at(*json.root, "c").text, "\\ud83d\\ude00");  // an escaped backslash begins no escape
  EXPECT_EQ(at(*json.root, "a").text, "é/\"\\\t");
}

TEST(YamlReader, RefusesTextsThatCouldExhaustTheMachine) {
  Tree large;
  read(large, std::string(kMaxConfigBytes + 1, '#'));
  EXPECT_EQ(render(large.problems),
            "t.yaml: error[E101]: larger than 8 MiB\n"
            "      describe large fabrics by a generator\n1 error, 0 warnings\n");
  for (const char* bracket : {"[", "{a: ", "- ", "? "}) {
    std::string text = "a: ";
    if (bracket[0] == '-' || bracket[0] == '?') text = "";
    for (int i = 0; i < 20'000; ++i) text += bracket;
    Tree deep;
    read(deep, text);
    EXPECT_FALSE(deep.root) << bracket;
    EXPECT_TRUE(deep.problems.has_errors()) << bracket;
  }
  std::string keys;
  for (int i = 0; i < 10'001; ++i) keys += "k" + std::to_string(i) + ": 1\n";
  Tree wide;
  read(wide, keys);
  EXPECT_FALSE(wide.root);
}

TEST(YamlReader, TakesALongList) {
  std::string text = "a: [1";
  for (int i = 0; i < 100'000; ++i) text += ", 1";
  Tree tree;
  read(tree, text + "]\n");
  ASSERT_TRUE(tree.root) << render(tree.problems);
  EXPECT_EQ(at(*tree.root, "a").items.size(), 100'001U);
}

TEST(YamlReader, ReadsOverrideValuesAtTheirColumn) {
  ConfigSource source{
      .name = "--set:1", .kind = SourceKind::kOverride, .path = {}, .lines = {"a.b=[1, x]"}, .provenance = {}};
  Diagnostics problems;
  const auto value = read_override_value("[1, x]", 4, source, problems);
  ASSERT_TRUE(value) << render(problems);
  EXPECT_EQ(value->items[1].column, 9);
  EXPECT_EQ(value->column, 5);
  EXPECT_EQ(read_override_value("", 4, source, problems)->kind, ConfigKind::kNull);
}

// A word alone is read without the parser, which a space behind it calls.
TEST(YamlReader, WordsAsOverridesAreReadAsTheParserReadsThem) {
  for (const char* const word :
       {"8",  "1f1b", "zero-1", "true", "null", "NULL", "no",  "~",    "1.5", "interleaved-1f1b", "a_b.c",
        "-1", "1-",   "x: 1",   "#",    "0x1F", "1e5",  "nan", "80GB", "{}",  "\xC3\xA9"}) {
    for (const std::string before : {"tp=", "\xC3\xA9\xC3\xA9="}) {
      ConfigSource source;
      source.lines = {before + word + " "};
      Diagnostics problems;
      const auto own = read_override_value(word, before.size(), source, problems);
      const auto parsed = read_override_value(std::string(word) + " ", before.size(), source, problems);
      ASSERT_EQ(own.has_value(), parsed.has_value()) << word;
      if (!own) continue;
      EXPECT_EQ(own->kind, parsed->kind) << word;
      EXPECT_EQ(own->text, parsed->text) << word;
      EXPECT_EQ(own->quoted, parsed->quoted) << word;
      EXPECT_EQ(own->source, parsed->source) << word;
      EXPECT_EQ(own->line, parsed->line) << word;
      EXPECT_EQ(own->column, parsed->column) << word;
      EXPECT_EQ(own->length, parsed->length) << word;
    }
  }
}

}  // namespace
}  // namespace ringwright::yaml_reader_test
