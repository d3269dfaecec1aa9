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

KernelProfile read_from(const std::string& text, std::vector<std::string>* problems = nullptr) {
  auto document = ConfigDocument::load_text("k.yaml", text).value();
  ConfigMap root = document.root();
  KernelProfile profile = read_kernel_profile(root);
  document.check_all_read();
  for (const Diagnostic& diagnostic : document.log().diagnostics().all()) {
    if (problems != nullptr) problems->push_back(diagnostic.message);
  }
  return profile;
}

TEST(KernelProfile, AnotherFlashAttentionDiffersInWhatItGives) {
  const KernelProfile profile = read_from(
      "name: mine\nattention: {forward_share: 90%, backward_share: 70%, tail: 2, rows: 64}\n"
      "flash_attention: [{release: 2, forward_share: 40%, tail: 1}, {release: 1, backward_share: 20%}]\n");
  const auto second = with_flash_attention(profile, 2);
  ASSERT_TRUE(second);
  EXPECT_DOUBLE_EQ((*second)[KernelConstant::kAttentionForwardShare], 0.4);
  EXPECT_DOUBLE_EQ((*second)[KernelConstant::kAttentionBackwardShare], 0.7);
  EXPECT_DOUBLE_EQ((*second)[KernelConstant::kAttentionTail], 1.0);
  EXPECT_DOUBLE_EQ((*second)[KernelConstant::kAttentionRows], 64.0);
  EXPECT_EQ(second->name, "mine");
  EXPECT_DOUBLE_EQ((*with_flash_attention(profile, 1))[KernelConstant::kAttentionBackwardShare], 0.2);
  EXPECT_FALSE(with_flash_attention(profile, 3));
}

TEST(KernelProfile, AReleaseOfFlashAttentionIsGivenOnce) {
  std::vector<std::string> problems;
  static_cast<void>(read_from("flash_attention: [{release: 2, tail: 1}, {release: 2, tail: 2}]\n", &problems));
  EXPECT_THAT(problems, testing::ElementsAre("flash_attention[1].release 2 is given twice"));
}

}  // namespace
}  // namespace ringwright::workload::kernel_profile_test
