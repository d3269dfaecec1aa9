// What validation/gpu/train_step.py measures, predicted from the same configuration: one layer, and whole steps.
#include <fstream>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/own_folder.h"
#include "validation/builtin.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation::layers_test {
namespace {

using testing::HasSubstr;

constexpr const char* kHead = "# gpu: h200-sxm-141gb\n# source: a test\n";

std::string write(const std::string& name, const std::string& text) {
  const std::string path = test::own_folder() + name + ".csv";
  std::ofstream(path) << text;
  return path;
}

// The words in quotes of `name = [...]` in train_step.py, joined by commas.
std::string list_in_script(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(shipped_folder("gpu") + "/train_step.py").rdbuf();
  const std::string code = text.str();
  const std::size_t begin = code.find(name + " = [");
  if (begin == std::string::npos) return "";
  const std::string list = code.substr(begin, code.find(']', begin) - begin);
  static const std::regex kWord("'([^']*)'");
  std::string words;
  for (std::sregex_iterator it(list.begin(), list.end(), kWord), end; it != end; ++it) {
    words += (words.empty() ? "" : ",") + it->str(1);
  }
  return words;
}

std::string layer_columns() {
  return list_in_script("keys") +
         ",forward_us,forward_low_us,forward_high_us,backward_us,backward_low_us,backward_high_us,peak_bytes\n";
}

TEST(ValidateLayers, SumsTheKernelsOfBothPassesAndTheTensorsAtTheirPeak) {
  const auto outcome = validate_layers(
      {.files = {write("layers", kHead + layer_columns() + "llama-8b,4096,32,8,14336,1,4096,1,1,1,1,1,1,1\n")},
       .wants_page = true});
  ASSERT_TRUE(outcome) << render(outcome.error());
  EXPECT_FALSE(outcome->passed);  // nothing takes a microsecond
  static const std::regex kRow("llama-8b 1 x 4096 +1\\.0 +([0-9.]+) +1\\.0 +([0-9.]+) +0\\.0 +([0-9.]+)");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(outcome->text, found, kRow)) << outcome->text;
  // 2 x 218 M weights x 4096 tokens and the masked half of 4 x 4096^2 x 4096 are 1.92 TFLOP: above 1.94 ms at 989
  // TFLOP/s, and no less than a third of it in practice; twice that, and attention's 2.5 times, backwards.
  EXPECT_GT(std::stod(found[1]), 1940.0);
  EXPECT_LT(std::stod(found[1]), 3 * 1940.0);
  EXPECT_GT(std::stod(found[2]), 1.8 * std::stod(found[1]));
  EXPECT_LT(std::stod(found[2]), 2.6 * std::stod(found[1]));
  // Weights and their gradients are 2 x 416 MiB.
  EXPECT_GT(std::stod(found[3]), 832.0);
  EXPECT_LT(std::stod(found[3]), 4 * 832.0);
  EXPECT_THAT(outcome->markdown, HasSubstr("layers-h200-sxm-141gb.svg"));
}

TEST(ValidateLayers, ASlowHostSetsThePaceOfASmallLayer) {
  const std::string file = write("layers", kHead + layer_columns() + "gpt2-350m,1024,16,16,4096,1,1024,1,,,1,,,1\n");
  const auto fast = validate_layers({.files = {file}});
  const auto slow = validate_layers({.files = {file}, .overrides = {"compute.host_issue=100us"}});
  ASSERT_TRUE(fast) << render(fast.error());
  ASSERT_TRUE(slow) << render(slow.error());
  EXPECT_NE(fast->text, slow->text);
}

TEST(ValidateLayers, MistakesAreReportedWithTheirPlace) {
  const auto outcome = validate_layers(
      {.files = {write("layers", kHead + layer_columns() + "llama-8b,4096,x,8,14336,1,4096,0,,,1,,,1\n")}});
  ASSERT_FALSE(outcome);
  EXPECT_THAT(render(outcome.error()), HasSubstr("heads is 'x'"));
  EXPECT_THAT(render(outcome.error()), HasSubstr("forward_us is '0'"));
  const auto strange = validate_layers(
      {.files = {write("layers", kHead + layer_columns() + "fish,4096,32,8,14336,1,4096,1,,,1,,,1\n")}});
  ASSERT_FALSE(strange);
  EXPECT_THAT(render(strange.error()), HasSubstr("layers.csv:4"));
}

// A row as the script writes it is simulated, and held to 5 % of time and of allocated memory.
TEST(ValidateTrainingSteps, ATableOfTheScriptIsSimulated) {
  const std::string columns = list_in_script("STEP_COLUMNS");
  ASSERT_THAT(columns, HasSubstr("id,model,layers,hidden"));
  const auto outcome =
      validate_training({.files = {write("train_step", kHead + columns +
                                                           ",step_time_s,step_low_s,step_high_s,mem_gib,reserved_gib\n"
                                                           "train_step-llama_1b_4096x1x1,llama-1b,16,2048,32,8,8192,"
                                                           "128256,4096,h200-sxm-141gb,1,1,1,1,1,1,1,1,none,bf16,"
                                                           "pytorch-eager,10,9,11,30,31\n")}});
  ASSERT_TRUE(outcome) << render(outcome.error());
  EXPECT_THAT(outcome->text, HasSubstr("One GPU, PyTorch     1          1"));
  EXPECT_THAT(outcome->text, HasSubstr("5.0 %  5.0 %   FAILED"));  // no step of a 1B model takes ten seconds
}

}  // namespace
}  // namespace ringwright::validation::layers_test
