#include "core/config/config_merge.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ringwright::config_merge_test {
namespace {

ConfigNode scalar(std::string text, const ConfigSource& source, int line) {
  ConfigNode node;
  node.kind = ConfigKind::kScalar;
  node.text = std::move(text);
  node.source = &source;
  node.line = line;
  node.column = 5;
  node.key_line = line;
  node.key_column = 1;
  return node;
}

ConfigNode map_of(std::vector<ConfigEntry> entries, const ConfigSource& source, int line) {
  ConfigNode node;
  node.kind = ConfigKind::kMap;
  node.entries = std::move(entries);
  node.source = &source;
  node.line = line;
  node.column = 3;
  node.key_line = line;
  node.key_column = 1;
  node.opened = true;
  return node;
}

// {a: {b: {c: value}}} of "a.b.c=value", each key at its column in the argument.
ConfigNode maps_around(std::string_view path, ConfigNode value, const ConfigSource& source) {
  for (std::size_t end = path.size(); true;) {
    const std::size_t dot = path.substr(0, end).rfind('.');
    const std::size_t start = dot == std::string_view::npos ? 0 : dot + 1;
    value.key_line = 1;
    value.key_column = static_cast<int>(start) + 1;
    value.key_length = static_cast<int>(end - start);
    ConfigNode map;
    map.kind = ConfigKind::kMap;
    map.source = &source;
    map.line = 1;
    map.column = static_cast<int>(start) + 1;
    map.entries.push_back({.key = std::string(path.substr(start, end - start)), .value = std::move(value)});
    value = std::move(map);
    if (start == 0) return value;
    end = dot;
  }
}

void expect_equal(const ConfigNode& a, const ConfigNode& b, const std::string& where) {
  EXPECT_EQ(a.kind, b.kind) << where;
  EXPECT_EQ(a.text, b.text) << where;
  EXPECT_EQ(a.source, b.source) << where;
  EXPECT_EQ(std::pair(a.line, a.column), std::pair(b.line, b.column)) << where;
  EXPECT_EQ(std::pair(a.key_line, a.key_column), std::pair(b.key_line, b.key_column)) << where;
  EXPECT_EQ(a.key_length, b.key_length) << where;
  EXPECT_EQ(a.opened, b.opened) << where;
  EXPECT_EQ(a.settled, b.settled) << where;
  ASSERT_EQ(a.entries.size(), b.entries.size()) << where;
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    EXPECT_EQ(a.entries[i].key, b.entries[i].key) << where;
    EXPECT_EQ(a.entries[i].read, b.entries[i].read) << where;
    expect_equal(a.entries[i].value, b.entries[i].value, where + "." + a.entries[i].key);
  }
}

// Of a file with a map in a map, a scalar, and a value in its long form.
TEST(ConfigMerge, SetsAValueAsMapsAroundItWould) {
  const ConfigSource file{.name = "file.yaml"};
  const ConfigSource override{.name = "--set:1", .kind = SourceKind::kOverride};
  const ConfigNode root =
      map_of({{.key = "a",
               .value = map_of({{.key = "b",
                                 .value = map_of({{.key = "c", .value = scalar("1", file, 3), .read = true}}, file, 2),
                                 .read = true},
                                {.key = "d",
                                 .value = map_of({{.key = "value", .value = scalar("5us", file, 5)},
                                                  {.key = "source", .value = scalar("paper", file, 6)}},
                                                 file, 4)}},
                               file, 1),
               .read = true},
              {.key = "e", .value = scalar("2", file, 7)}},
             file, 1);
  for (const std::string_view path : {"a.b.c", "a.b.new", "a.new.c", "new.b.c", "new", "e", "e.f", "a.d", "a.d.value",
                                      "a.d.x", "a", "value", "value.x", "a.b.c.x.y"}) {
    for (const bool with_map : {false, true}) {
      SCOPED_TRACE(path);
      ConfigNode value =
          with_map ? map_of({{.key = "c", .value = scalar("9", override, 1)}}, override, 1) : scalar("9", override, 1);
      const std::size_t last = path.rfind('.') == std::string_view::npos ? 0 : path.rfind('.') + 1;
      value.key_line = 1;
      value.key_column = static_cast<int>(last) + 1;
      value.key_length = static_cast<int>(path.size() - last);
      ConfigNode expected = maps_around(path, value, override);
      expected.source = root.source;
      expected.settled = root.settled;
      expected = merged(root, std::move(expected));
      ConfigNode set = root;
      merge_at(set, path, value);
      expect_equal(set, expected, "");
    }
  }
}

}  // namespace
}  // namespace ringwright::config_merge_test
