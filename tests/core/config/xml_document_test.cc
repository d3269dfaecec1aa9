// XML as a tree: elements, attributes, lines, and errors for broken text.
#include "core/config/xml_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::xml_document_test {
namespace {

using ::testing::HasSubstr;

TEST(XmlDocument, KeepsElementsAttributesAndLines) {
  auto document =
      parse_xml("<?xml version=\"1.0\"?>\n<!-- a\n remark -->\n<a x=\"1\">\n  <b/>\n  <b y='&lt;2'/>\n</a>\n", "f.xml");
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(document->root.name, "a");
  EXPECT_EQ(document->root.line, 4);
  EXPECT_EQ(document->root.integer("x"), 1);
  ASSERT_EQ(document->root.children.size(), 2u);
  EXPECT_EQ(document->root.children[1].line, 6);
  EXPECT_EQ(document->root.children[1].text("y"), "<2");
  EXPECT_FALSE(document->root.children[0].attribute("y").has_value());
}

TEST(XmlDocument, NumbersAreWholeOrNone) {
  auto document = parse_xml("<a x=\"12\" y=\"12.5\" z=\"\" m=\"-1\"/>", "f.xml");
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(document->root.integer("x"), 12);
  EXPECT_EQ(document->root.integer("m"), -1);
  EXPECT_FALSE(document->root.integer("y").has_value());
  EXPECT_FALSE(document->root.integer("z").has_value());
  EXPECT_FALSE(document->root.integer("none").has_value());
}

TEST(XmlDocument, PointsAtAnElement) {
  auto document = parse_xml("<a>\n  <bad/>\n</a>", "f.xml");
  ASSERT_TRUE(document.has_value());
  const Diagnostic problem = document->problem(document->root.children[0], "E126", "it is bad");
  EXPECT_EQ(problem.place.line, 2);
  EXPECT_EQ(problem.place.column, 3);
  EXPECT_EQ(problem.excerpt, "  <bad/>");
}

TEST(XmlDocument, RefusesBrokenText) {
  auto open = parse_xml("<a>\n<b>\n</a>", "f.xml");
  ASSERT_FALSE(open.has_value());
  EXPECT_EQ(open.error().all().front().place.line, 3);
  EXPECT_FALSE(parse_xml("", "f.xml").has_value());
  EXPECT_FALSE(parse_xml("plain words", "f.xml").has_value());
}

TEST(XmlDocument, RefusesWhatItWouldDrop) {
  const auto second = parse_xml("<a/>\n<!-- more -->\n<b/>", "f.xml");
  ASSERT_FALSE(second.has_value());
  EXPECT_THAT(render(second.error()), HasSubstr("f.xml:3:2: error[E117]: <b> follows the end of the document"));
  const auto twice = parse_xml("<a>\n <b size='1' size='2'/></a>", "f.xml");
  ASSERT_FALSE(twice.has_value());
  EXPECT_THAT(render(twice.error()), HasSubstr("f.xml:2:2: error[E117]: <b> has an attribute twice"));
  EXPECT_TRUE(parse_xml("<?xml version='1.0'?>\n<!-- a --><a/>\n<!-- b -->\n", "f.xml").has_value());
}

TEST(XmlDocument, RefusesEndlessDepth) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "<a>";
  for (int i = 0; i < 1000; ++i) text += "</a>";
  auto document = parse_xml(text, "f.xml");
  ASSERT_FALSE(document.has_value());
  EXPECT_THAT(document.error().all().front().message, HasSubstr("nested"));
}

}  // namespace
}  // namespace ringwright::xml_document_test
