#include "core/config/yaml_writer.h"

#include <string>

#include <gtest/gtest.h>

#include "core/config/config_document.h"

namespace ringwright::yaml_writer_test {
namespace {

ConfigDocument read(std::string_view text) {
  auto document = ConfigDocument::load_text("a.yaml", text);
  if (!document) ADD_FAILURE() << render(document.error());
  return std::move(*document);
}

TEST(YamlWriter, KeepsNumbersWordsListsAndMaps) {
  const std::string text = "a: 8\nb: {c: 400Gbps, d: [1, -2, x]}\n";
  EXPECT_EQ(read(text).yaml(), text);
}

TEST(YamlWriter, QuotesWhatYamlWouldTakeForSomethingElse) {
  EXPECT_EQ(read("a: 'x, y'\nb: \"2:1\"\nc: one two\nd: '8'\n").yaml(),
            "a: \"x, y\"\nb: \"2:1\"\nc: \"one two\"\nd: \"8\"\n");
}

TEST(YamlWriter, WhatItWroteReadsTheSame) {
  const std::string once =
      read("a: \"say \\\"x\\\"\"\nb: {value: 5us, evidence: measured, source: 'a: b'}\nc: []\nd: {}\n").yaml();
  EXPECT_EQ(read(once).yaml(), once);
}

TEST(YamlWriter, CarriesTheEvidenceOfTheFile) {
  EXPECT_EQ(read("evidence: measured\nsource: a table\na: 1\n").yaml(),
            "evidence: measured\nsource: \"a table\"\na: 1\n");
}

TEST(YamlWriter, AnOverrideDoesNotInheritTheEvidenceOfTheFile) {
  const ConfigDocument document = read("evidence: measured\na: 1\nb: 2\n");
  EXPECT_EQ(document.changed({.settings = {"a=3"}}).yaml(),
            "evidence: measured\na: {value: 3, evidence: assumed, source: \"\"}\nb: 2\n");
}

}  // namespace
}  // namespace ringwright::yaml_writer_test
