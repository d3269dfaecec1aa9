#include "core/config/log_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::log_warnings_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(LogWarnings, AreThoseOfReadersAndKeysWithoutEffectOnce) {
  ConfigLog log;
  log.add(Diagnostic{.severity = Severity::kWarning, .code = "W131", .message = "a.key has no effect: b is 1"});
  log.add(Diagnostic{.severity = Severity::kWarning, .code = "W590", .message = "odd"});
  log.add(IgnoredKey{.path = "a.key", .origin = "file.yaml:3", .why = "b is 1"});
  log.add(IgnoredKey{.path = "a.other", .origin = "--set:1", .why = "in part: of messages"});
  const Diagnostics warnings = warnings_of(log);
  EXPECT_EQ(warnings.all().size(), 3U);
  EXPECT_FALSE(warnings.has_errors());
  EXPECT_THAT(render(warnings), AllOf(HasSubstr("warning[W590]: odd"),
                                      HasSubstr("file.yaml:3: warning[W131]: a.key has no effect: b is 1"),
                                      HasSubstr("--set:1: warning[W131]: a.other has no effect in part: of messages")));
}

}  // namespace
}  // namespace ringwright::log_warnings_test
