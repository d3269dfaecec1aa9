#include "core/config/error_codes.h"
#include "tests/paths.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::error_codes_test {
namespace {

std::set<std::string> codes_in_expected_messages() {
  std::set<std::string> codes;
  const std::regex pattern(R"(\[(E[0-9]+)\])");
  for (const auto& entry :
       std::filesystem::directory_iterator(ringwright::test_data() + "/core/config/broken")) {
    if (entry.path().extension() != ".txt") continue;
    std::ifstream stream(entry.path());
    const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) codes.insert((*it)[1]);
  }
  return codes;
}

TEST(ConfigErrorCodes, ExplainEveryCodeThatIsReported) {
  std::set<std::string> documented;
  for (const ErrorCode& row : config_error_codes()) {
    EXPECT_TRUE(documented.emplace(row.code).second) << row.code << " appears twice";
    EXPECT_FALSE(row.title.empty() || row.explanation.empty() || row.example.empty()) << row.code;
  }
  std::set<std::string> reported = codes_in_expected_messages();
  reported.insert("E100");  // a file that cannot be read has no expected text file
  reported.insert("E115");  // files in other formats: xml_document_test.cc and node_import_test.cc
  reported.insert("E116");
  reported.insert("E117");
  reported.insert("E118");  // names of scenarios: tests/configs/ranges_test.cc
  reported.insert("W593");  // a warning: replaced_parts_test.cc
  EXPECT_EQ(reported, documented);
}

TEST(ExplainError, IsAPageWithAnExample) {
  const std::array tables = {config_error_codes()};
  EXPECT_EQ(explain_error(tables, "e111"),
            "E111: a number with a leading zero\n\n"
            "YAML 1.1 reads 016 as octal (14), YAML 1.2 as 16. Write the number without the zero.\n\n"
            "For example\n\n"
            "    tp: 016                       # write: tp: 16\n");
  EXPECT_EQ(explain_error(tables, "E999"), "");
  EXPECT_EQ(explain_error(tables, ""), "");
}

}  // namespace
}  // namespace ringwright::error_codes_test
