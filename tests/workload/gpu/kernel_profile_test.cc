#include "workload/gpu/kernel_profile.h"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/config_document.h"

namespace ringwright::workload::kernel_profile_test {
namespace {

TEST(KernelProfile, TheTableOfConstantsIsInTheOrderOfTheirIdsAndConsistent) {
  std::set<std::string> names;
  std::size_t index = 0;
  for (const ConstantSpec& spec : kernel_constants()) {
    EXPECT_EQ(static_cast<std::size_t>(spec.id), index++) << spec.name;
    EXPECT_TRUE(names.insert(std::string(spec.section) + "." + std::string(spec.name)).second) << spec.name;
    EXPECT_LE(spec.min, spec.fallback) << spec.name;
    EXPECT_LE(spec.fallback, spec.max) << spec.name;
    EXPECT_LT(spec.min, spec.max) << spec.name;
  }
}

TEST(KernelProfile, ConstantsAreReadInTheirUnits) {
  auto document = ConfigDocument::load_text(
                      "k.yaml",
                      "name: mine\n"
                      "gemm: {half_share: {value: 75%, evidence: measured}, k_ramp: 123.5, widest_tile: 128}\n"
                      "stream: {gap: 1.5us}\n")
                      .value();
  ConfigMap root = document.root();
  const KernelProfile profile = read_kernel_profile(root);
  document.check_all_read();
  EXPECT_TRUE(document.log().diagnostics().all().empty());
  EXPECT_EQ(profile.name, "mine");
  EXPECT_DOUBLE_EQ(profile[KernelConstant::kGemmHalfShare], 0.75);
  EXPECT_DOUBLE_EQ(profile[KernelConstant::kGemmRamp], 123.5);
  EXPECT_DOUBLE_EQ(profile[KernelConstant::kGemmWidestTile], 128.0);
  EXPECT_DOUBLE_EQ(profile[KernelConstant::kStreamGap], 1.5e-6);
  EXPECT_EQ(profile.evidence, Evidence::kMeasured);
}

TEST(KernelProfile, WhatIsNotGivenIsTheClassValue) {
  auto document = ConfigDocument::load_text("k.yaml", "name: mine\n").value();
  ConfigMap root = document.root();
  const KernelProfile profile = read_kernel_profile(root);
  const KernelProfile usual = class_profile();
  for (const ConstantSpec& spec : kernel_constants()) EXPECT_NEAR(profile[spec.id], usual[spec.id], 1e-12) << spec.name;
}

TEST(KernelProfile, ImpossibleAndUnknownConstantsAreRefusedWithTheirPlace) {
  auto document = ConfigDocument::load_text("k.yaml", "name: mine\ngemm: {half_share: 140%, k_rmp: 3}\n").value();
  ConfigMap root = document.root();
  static_cast<void>(read_kernel_profile(root));
  document.check_all_read();
  std::vector<std::string> messages;
  for (const Diagnostic& diagnostic : document.log().diagnostics().all()) {
    EXPECT_EQ(diagnostic.place.line, 2);
    messages.push_back(diagnostic.message + " " + diagnostic.hint);
  }
  EXPECT_THAT(messages,
              testing::UnorderedElementsAre(testing::HasSubstr("gemm.half_share"), testing::HasSubstr("k_ramp")));
}

}  // namespace
}  // namespace ringwright::workload::kernel_profile_test
