#include "configs/scenario/imports/hydra/interpolation.h"

#include <string>

#include <gtest/gtest.h>

#include "core/config/yaml_reader.h"

namespace ringwright::configs::interpolation_test {
namespace {

// Of the key `x` at the top, among others.
std::string value_of_x(const std::string& value, const std::string& others = "") {
  ConfigSource source{.name = "run.yaml", .kind = SourceKind::kFile, .path = {}, .lines = {}};
  Diagnostics problems;
  const auto root = read_yaml("x: " + value + "\n" + others, source, problems);
  if (!root) return render(problems);
  const ConfigNode whole = with_interpolations(*root);
  const ConfigNode& x = find_entry(whole, "x")->value;
  return x.kind == ConfigKind::kNull ? "(null)" : x.text;
}

constexpr const char* kModel =
    "model:\n  size: 8\n  wide: ${multiply:4,${.size}}\n  data:\n    length: ${..size}\n"
    "  layers: [5, 6]\n  nothing: null\n";

TEST(Interpolation, APathIsAbsoluteOrFromTheMapOfItsKey) {
  EXPECT_EQ(value_of_x("${model.size}", kModel), "8");
  EXPECT_EQ(value_of_x("${model.wide}", kModel), "32");
  EXPECT_EQ(value_of_x("${model.data.length}", kModel), "8");
  EXPECT_EQ(value_of_x("${model.layers.1}", kModel), "6");
  EXPECT_EQ(value_of_x("${model.layers[0]}", kModel), "5");
  EXPECT_EQ(value_of_x("${training.model.size}", kModel), "8");
  EXPECT_EQ(value_of_x("${model.nothing}", kModel), "(null)");
  EXPECT_EQ(value_of_x("gpt_${model.size}b_${model.wide}", kModel), "gpt_8b_32");
  EXPECT_EQ(value_of_x("${model.${name}}", std::string(kModel) + "name: size\n"), "8");
}

TEST(Interpolation, VariablesHaveTheirDefaults) {
  EXPECT_EQ(value_of_x("${oc.env:TP,4}"), "4");
  EXPECT_EQ(value_of_x("${oc.decode:${oc.env:TP,4}}"), "4");
  EXPECT_EQ(value_of_x("${oc.decode:${oc.env:RECIPE,'delayed'}}"), "delayed");
  EXPECT_EQ(value_of_x("${oc.decode:${oc.env:METHOD,null}}"), "(null)");
  EXPECT_EQ(value_of_x("${oc.env:A,${oc.env:B,${model.size}}}", kModel), "8");
  EXPECT_EQ(value_of_x("${oc.select:model.absent,7}", kModel), "7");
  EXPECT_EQ(value_of_x("${oc.select:model.size,7}", kModel), "8");
}

TEST(Interpolation, ResolversOfMlperfCompute) {
  EXPECT_EQ(value_of_x("${floor_div:${multiply:8,${model.size}},3}", kModel), "21");  // 64 / 3
  EXPECT_EQ(value_of_x("${ceil_div:120000,${model.wide}}", kModel), "3750");
  EXPECT_EQ(value_of_x("${add:${multiply:0.125,20},2}"), "4.5");
  EXPECT_EQ(value_of_x("${floor:${add:${multiply:0.125,20},2}}"), "4");
  EXPECT_EQ(value_of_x("${min:7,3}"), "3");
  EXPECT_EQ(value_of_x("${if:${eq:${model.size},8},yes,no}", kModel), "yes");
  EXPECT_EQ(value_of_x("${if:${neq:'1',${oc.env:POWER,0}},2,0}"), "2");
  EXPECT_EQ(value_of_x("${not:False}"), "true");
}

TEST(Interpolation, WhatTheFileDoesNotHaveStaysAsItIsWritten) {
  for (const char* open : {"${oc.env:TP}", "${oc.decode:${oc.env:TP}}", "${absent.key}", "${model}", "${now:%Y}",
                           "${multiply:4,many}", "${floor_div:4,0}", "${multiply:${oc.env:TP},2}", "${model.layers.7}",
                           "${.....x}", "${unclosed", "${}", "${multiply:}", "${multiply:4}"}) {
    EXPECT_EQ(value_of_x(open, kModel), open);
  }
}

TEST(Interpolation, CyclesAndFloodsEnd) {
  EXPECT_EQ(value_of_x("${y}", "y: ${x}\n"), "${y}");
  EXPECT_EQ(value_of_x("${x}"), "${x}");
  std::string doubled = "v0: aaaaaaaaaaaaaaaa\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "${v" + std::to_string(i - 1) + "}";
    doubled += "v" + std::to_string(i) + ": " + before + before + "\n";
  }
  EXPECT_EQ(value_of_x("${v39}", doubled), "${v39}");
}

}  // namespace
}  // namespace ringwright::configs::interpolation_test
