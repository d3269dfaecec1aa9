#include "core/base/diagnostic.h"

#include <gtest/gtest.h>

namespace ringwright::diagnostic_test {
namespace {

std::string rendered(std::string excerpt) {
  return render(Diagnostic{.code = "E1",
                           .place = {.file = "f", .line = 1, .column = 1},
                           .message = "wrong",
                           .excerpt = std::move(excerpt)});
}

TEST(Diagnostic, OfBinaryFilesPrintsNoControlBytes) {
  EXPECT_EQ(rendered("\x1b[31m\x07 \xc3 \x7f"), "f:1:1: error[E1]: wrong\n    1 | ?[31m? ? ?\n      | ^\n");
}

TEST(Diagnostic, LeavesTextInUtf8AsItIs) {
  EXPECT_NE(rendered("Gr\xc3\xb6\xc3\x9f" "e: 1").find("Gr\xc3\xb6\xc3\x9f" "e: 1"), std::string::npos);
}

}  // namespace
}  // namespace ringwright::diagnostic_test
