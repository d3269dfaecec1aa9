// Which library runs collectives, and its own variables.
#include "collectives/libraries/settings.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "collectives/libraries/profile.h"
#include "core/config/config_document.h"

namespace ringwright::collectives::libraries_room::settings_test {
namespace {

using namespace ringwright::literals;
using testing::AllOf;
using testing::HasSubstr;

struct Loaded {
  LibrarySettings library;
  std::string problems;
};

Loaded read(std::string_view comm, bool nvidia = true) {
  auto document = ConfigDocument::load_text("comm.yaml", comm);
  if (!document) return {.library = {}, .problems = render(document.error())};
  Loaded loaded{.library = read_library(document->root(), nvidia), .problems = {}};
  if (document->log().diagnostics().has_errors()) loaded.problems = render(document->log().diagnostics());
  return loaded;
}

TEST(Library, IsThatOfTheGpusVendorUnlessItIsGiven) {
  EXPECT_EQ(read("{}").library.profile->name, "nccl");
  EXPECT_EQ(read("{}", false).library.profile->name, "rccl");
  EXPECT_EQ(read("{library: gloo}", false).library.profile->name, "gloo");
  EXPECT_THAT(read("{library: glo}").problems, AllOf(HasSubstr("E107"), HasSubstr("gloo")));
}

TEST(Library, RulesNameAlgorithmsThatExist) {
  for (const LibraryProfile& profile : library_profiles()) {
    for (const AlgorithmRule& rule : profile.rules) {
      EXPECT_NE(find_algorithm(rule.algorithm), nullptr) << profile.name << " " << rule.algorithm;
    }
  }
}

// The example of oneCCL's documentation, "Environment Variables".
TEST(OneCcl, SelectsAlgorithmsByRangesOfSizes) {
  const Loaded loaded =
      read("{library: oneccl, env: {CCL_ALLREDUCE: \"recursive_doubling:0-8192;rabenseifner:8193-1048576;"
           "ring:1048577-max\"}}");
  EXPECT_EQ(loaded.problems, "");
  ASSERT_EQ(loaded.library.chosen.size(), 3u);
  EXPECT_EQ(loaded.library.chosen[0].algorithm, "recursive_doubling");
  EXPECT_EQ(loaded.library.chosen[0].up_to, Bytes(8192));
  EXPECT_EQ(loaded.library.chosen[1].algorithm, "halving_doubling");
  EXPECT_EQ(loaded.library.chosen[1].from, Bytes(8193));
  EXPECT_EQ(loaded.library.chosen[2].up_to, Bytes(0));
  EXPECT_TRUE(loaded.library.chosen[2].staged);
}

TEST(OneCcl, OnlyTopoRunsInTheMemoryOfGpus) {
  EXPECT_FALSE(read("{library: oneccl, env: {CCL_ALLREDUCE: topo}}").library.chosen.at(0).staged);
}

TEST(OneCcl, RefusesWhatItDoesNotKnowAndWhatIsNotModelled) {
  const auto problems = [](const std::string& value) {
    return read("{library: oneccl, env: {CCL_ALLREDUCE: \"" + value + "\"}}").problems;
  };
  EXPECT_THAT(problems("rings"), AllOf(HasSubstr("E562"), HasSubstr("recursive_doubling")));
  EXPECT_THAT(problems("direct"), AllOf(HasSubstr("E562"), HasSubstr("not modelled")));
  EXPECT_THAT(problems("ring:9-8"), HasSubstr("FROM-TO"));
  EXPECT_THAT(problems("ring:1"), HasSubstr("FROM-TO"));
  EXPECT_THAT(problems("ring:-5-9"), HasSubstr("FROM-TO"));
  EXPECT_THAT(problems("ring:0-99999999999999999999"), HasSubstr("FROM-TO"));
  EXPECT_THAT(problems(""), HasSubstr("is empty"));
  EXPECT_THAT(problems(";"), HasSubstr("E562"));
}

TEST(Library, RefusesVariablesOfAnother) {
  EXPECT_THAT(read("{library: gloo, env: {NCCL_ALGO: Ring}}").problems, AllOf(HasSubstr("E562"), HasSubstr("gloo")));
  EXPECT_THAT(read("{library: oneccl, env: {CCL_ALLREDUC: ring}}").problems, HasSubstr("did you mean 'CCL_ALLREDUCE'"));
}

TEST(Horovod, ReadsItsVariables) {
  const HorovodSettings usual = read("{library: horovod}").library.horovod;
  EXPECT_EQ(usual.cycle, 1_ms);
  EXPECT_TRUE(usual.cached);
  const Loaded loaded = read(
      "{library: horovod, env: {HOROVOD_FUSION_THRESHOLD: 33554432, HOROVOD_CYCLE_TIME: 3.5, "
      "HOROVOD_HIERARCHICAL_ALLREDUCE: 1, HOROVOD_CACHE_CAPACITY: 0}}");
  EXPECT_EQ(loaded.problems, "");
  EXPECT_EQ(loaded.library.horovod.fusion_threshold, 32_MiB);
  EXPECT_EQ(loaded.library.horovod.cycle, 3500_us);
  EXPECT_TRUE(loaded.library.horovod.hierarchical);
  EXPECT_FALSE(loaded.library.horovod.cached);
}

TEST(Horovod, RefusesWhatIsNoNumber) {
  for (const char* const value : {"soon", "-1", "nan", "1e300", "3ms"}) {
    EXPECT_THAT(read(std::string("{library: horovod, env: {HOROVOD_CYCLE_TIME: ") + value + "}}").problems,
                HasSubstr("E562"))
        << value;
  }
}

}  // namespace
}  // namespace ringwright::collectives::libraries_room::settings_test
