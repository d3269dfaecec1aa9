// Single primitives as NPKit times them, against the constants of the rung `chunks`.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/own_folder.h"
#include "validation/builtin.h"

namespace ringwright::validation::primitive_times_test {
namespace {

using testing::HasSubstr;

std::string table_of(const std::string& rows) {
  const std::string path = test::own_folder() + "a.primitive_times.csv";
  std::ofstream(path)
      << "# gpu: h100-sxm5-80gb\n# source: a test\nprotocol,primitive,bytes,samples,time_us,low_us,high_us\n"
      << rows;
  return path;
}

// 1 MiB at 50 GB/s, 30 % of it loads: a sum that is stored and sent loads and stores twice.
TEST(PrimitiveTimes, LoadsAndStoresDominate) {
  const auto outcome =
      validate_primitive_times({.files = {table_of("Simple,send,1048576,10,20.97,,\nSimple,recvReduceSend,1048576,10,"
                                                   "27.26,,\nSimple,recvCopySend,1048576,10,35.65,,\n"
                                                   "Simple,recvReduceCopySend,1048576,10,41.94,,\n")},
                                .overrides = {"comm.costs.simple.rate=50GB/s", "comm.costs.load_share=30%"}});
  ASSERT_TRUE(outcome) << render(outcome.error());
  EXPECT_TRUE(outcome->passed) << outcome->text;
  EXPECT_THAT(outcome->text,
              HasSubstr("Simple, recvReduceCopySend     41.94     41.94      41.94  1 rows, mean 0.0 %"));
}

TEST(PrimitiveTimes, OtherConstantsAreScored) {
  const std::string path = table_of("Simple,send,1048576,10,20.97,,\nLL,send,32768,10,3,,\n");
  const auto outcome = validate_primitive_times({.files = {path}, .overrides = {"comm.costs.simple.rate=25GB/s"}});
  ASSERT_TRUE(outcome) << render(outcome.error());
  EXPECT_FALSE(outcome->passed);
  EXPECT_THAT(outcome->text, HasSubstr("h100-sxm5-80gb, Simple, send: the mean error is 100.0 %, above 10.0 %"));
  EXPECT_THAT(outcome->json, HasSubstr("\"protocol\": \"ll\", \"primitive\": \"send\", \"smallest_s\": 3e-06"));
}

TEST(PrimitiveTimes, MistakesAreReportedWithTheirPlace) {
  const auto outcome = validate_primitive_times({.files = {table_of("Simple,push,1048576,10,x,,\n")}});
  ASSERT_FALSE(outcome);
  EXPECT_THAT(render(outcome.error()), HasSubstr("primitive 'push' is unknown"));
  EXPECT_THAT(render(outcome.error()), HasSubstr("csv:4:24: error[E163]: time_us is 'x'"));
}

// Measured by others on GH200; the constants of the class are held to 10 % where bytes decide.
TEST(PrimitiveTimes, TheShippedTableAgreesWithTheConstantsOfTheClass) {
  const auto outcome = validate_primitive_times({.files = {}, .wants_page = true});
  ASSERT_TRUE(outcome) << render(outcome.error());
  EXPECT_TRUE(outcome->passed) << outcome->text;
  EXPECT_THAT(outcome->text, HasSubstr("gh200-96gb"));
  EXPECT_THAT(outcome->markdown, HasSubstr("primitive-times-gh200-96gb.svg"));
}

}  // namespace
}  // namespace ringwright::validation::primitive_times_test
