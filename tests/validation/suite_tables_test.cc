// Tables of the measuring suite: what `validation/gpu` writes at the head of a table is what the validators read; and
// launches, memory and offload, scored on rows made by their own rules.
#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario/gpu_preset.h"
#include "tests/support/own_folder.h"
#include "validation/builtin.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation::suite_tables_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text_in(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// All quoted strings, in order.
std::vector<std::string> quoted(const std::string& code) {
  static const std::regex kWord("\"([^\"]*)\"");
  std::vector<std::string> words;
  for (std::sregex_iterator it(code.begin(), code.end(), kWord), end; it != end; ++it) words.push_back((*it)[1]);
  return words;
}

// The line of columns that a family's source asks for: `suite.table("name", {keys}, {values})`.
std::string columns_of(const std::string& family) {
  const std::string code = text_in(shipped_folder("gpu/families") + "/" + family + ".cu");
  static const std::regex kTable("suite\\.table\\(([^;]*)\\);");
  std::smatch found;
  if (!std::regex_search(code, found, kTable)) return "";
  const std::vector<std::string> words = quoted(found[1]);
  EXPECT_EQ(words.front(), family);
  std::string line;
  for (std::size_t i = 1; i < words.size(); ++i) line += (i > 1 ? "," : "") + words[i];
  return line + "\n";
}

// The keys of `describe_device`: every string that begins a line of the head.
std::string head() {
  const std::string code = text_in(shipped_folder("gpu") + "/device.cu");
  static const std::regex kKey(
      "\"(gpu|source|evidence|device|clocks|power|driver|cuda|libraries|date|method|[a-z]+): ");
  const std::string lines = code.substr(code.find("\"gpu: "));
  std::string text;
  for (std::sregex_iterator it(lines.begin(), lines.end(), kKey), end; it != end; ++it) {
    const std::string key = (*it)[1];
    text += "# " + key + ": " + (key == "gpu" ? "h200-sxm-141gb" : key == "evidence" ? "measured" : "a test") + "\n";
  }
  return text;
}

std::string write(const std::string& name, const std::string& text) {
  const std::string path = test::own_folder() + name + ".csv";
  std::ofstream(path) << text;
  return path;
}

// Pairs of a substring of a device's name and the GPU that is shipped for it, as `text` lists them.
std::vector<std::pair<std::string, std::string>> known_gpus(const std::string& file, const std::regex& pair) {
  const std::string text = text_in(shipped_folder("gpu") + "/" + file);
  std::vector<std::pair<std::string, std::string>> known;
  for (std::sregex_iterator it(text.begin(), text.end(), pair), end; it != end; ++it)
    known.emplace_back((*it)[1], (*it)[2]);
  return known;
}

TEST(SuiteDevices, BothPartsOfTheSuiteKnowTheSameGpusAndEachIsShipped) {
  const auto cuda = known_gpus("device.cu", std::regex("\\{\"([^\"]+)\", \"([^\"]+)\"\\}"));
  const auto torch = known_gpus("torch_tables.py", std::regex("\\('([^']+)', '([^']+)'\\)"));
  EXPECT_GE(cuda.size(), 17U);
  EXPECT_THAT(torch, testing::ElementsAreArray(cuda));
  for (const auto& [device, gpu] : cuda) EXPECT_TRUE(configs::load_gpu(gpu)) << device << ": " << gpu;
}

class SuiteTable : public testing::TestWithParam<const char*> {};

TEST_P(SuiteTable, HasAHeadAndColumnsThatItsValidatorReads) {
  const std::string family = GetParam();
  const std::string columns = columns_of(family);
  ASSERT_FALSE(columns.empty());
  const auto validator = std::ranges::find(validators(), family, &Validator::name);
  ASSERT_NE(validator, validators().end());
  const auto outcome = validator->run({.files = {write(family, head() + columns)}});
  ASSERT_FALSE(outcome);
  // All that is wrong with it is that nothing was measured.
  EXPECT_THAT(render(outcome.error()), HasSubstr("there is no row of"));
  EXPECT_EQ(outcome.error().error_count(), 1U) << render(outcome.error());
}

INSTANTIATE_TEST_SUITE_P(Families, SuiteTable,
                         testing::Values("host_copies", "interference", "launches", "memory", "offload", "primitives"));

constexpr const char* kHead = "# gpu: h200-sxm-141gb\n# source: a test\n";

// A copy of one stream in and one out: 3 us and 4 TB/s; blocks draw 40 GB/s each up to 2.4 TB/s. `factor` on every
// second row.
std::string memory_rows(double factor) {
  std::string text =
      std::string(kHead) + "pattern,level,stream_bytes,sms,blocks,GB_per_s,time_us,ci_low_us,ci_high_us\n";
  double now = 1.0;
  for (std::int64_t bytes = 64 << 10; bytes <= 1 << 30; bytes *= 2, now = now > 1.0 ? 1.0 : factor) {
    text +=
        fmt::format("copy,memory,{},132,528,,{:.6f},,\n", bytes, now * (3.0 + 2.0 * static_cast<double>(bytes) / 4e6));
  }
  for (const int sms : {1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128}) {
    text += fmt::format("read,memory,268435456,{0},{0},,{1:.6f},,\n", sms, 268.435456e6 / std::min(40e3 * sms, 2400e3));
  }
  return text;
}

TEST(ValidateMemory, FindsTheRulesThatMadeTheRows) {
  const auto outcome = validate_memory({.files = {write("memory", memory_rows(1.0))}, .wants_page = true});
  ASSERT_TRUE(outcome) << render(outcome.error());
  EXPECT_TRUE(outcome->passed) << outcome->text;
  EXPECT_THAT(outcome->text, HasSubstr("copy, memory"));
  EXPECT_THAT(outcome->text, HasSubstr("3 us + bytes / 4 TB/s"));
  EXPECT_THAT(outcome->text,
              testing::ContainsRegex("read, memory, by multiprocessors +(39|40|41).* each, (59|60|61) of them fill 2"));
  EXPECT_THAT(outcome->markdown, HasSubstr("memory-h200-sxm-141gb.svg"));
}

TEST(ValidateMemory, RowsThatFollowNoRuleFail) {
  const auto outcome = validate_memory({.files = {write("memory", memory_rows(1.5))}});
  ASSERT_TRUE(outcome) << render(outcome.error());
  EXPECT_FALSE(outcome->passed);
  EXPECT_THAT(outcome->text, HasSubstr("copy, memory: the mean error is"));
}

TEST(ValidateMemory, MistakesAreReportedWithTheirPlace) {
  const auto outcome = validate_memory(
      {.files = {
           write("memory",
                 std::string(kHead) +
                     "pattern,level,stream_bytes,sms,blocks,time_us\ncopi,l3,1024,0,1,3\ncopy,l2,1024,132,8,x\n")}});
  ASSERT_FALSE(outcome);
  const std::string problems = render(outcome.error());
  EXPECT_THAT(problems, HasSubstr("pattern 'copi' is unknown"));
  EXPECT_THAT(problems, HasSubstr("level 'l3' is unknown"));
  EXPECT_THAT(problems, HasSubstr("sms is 0 and must be between 1 and 4096"));
  EXPECT_THAT(problems, HasSubstr("8 thread blocks cannot use 132 multiprocessors"));
}

// Down at 50, up at 40 GB/s, 10 us a bucket; 256 MiB in buckets of 4 and 64 MiB. `held` slows the GEMM during
// copies.
std::string offload_rows(double held, double both) {
  std::string text = std::string(kHead) + "traffic,compute,bytes,bucket_bytes,compute_us,down_us,up_us\n";
  for (const std::int64_t bucket : {4 << 20, 64 << 20}) {
    const double buckets = static_cast<double>(256 << 20) / static_cast<double>(bucket);
    const double down = 10.0 * buckets + 268.435456e6 / 50e3;
    const double up = 10.0 * buckets + 268.435456e6 / 40e3;
    for (const bool computes : {false, true}) {
      const char* const compute = computes ? "gemm bf16 4096x4096x4096" : "none";
      const double alone = computes ? 9600.0 : 0.0;
      if (computes) text += fmt::format("none,{},268435456,{},{},0.1,0.1\n", compute, bucket, alone);
      text += fmt::format("gradients down,{},268435456,{},{},{},0.1\n", compute, bucket, alone * held, down);
      text += fmt::format("parameters up,{},268435456,{},{},0.1,{}\n", compute, bucket, alone * held, up);
      text += fmt::format("both,{},268435456,{},{},{},{}\n", compute, bucket, alone * held, down * both, up * both);
    }
  }
  return text;
}

TEST(ValidateOffload, DirectionsDoNotDisturbEachOtherAndTakeLittleFromAGemm) {
  const auto outcome = validate_offload({.files = {write("offload", offload_rows(1.0, 1.0))}, .wants_page = true});
  ASSERT_TRUE(outcome) << render(outcome.error());
  EXPECT_TRUE(outcome->passed) << outcome->text;
  // Of each direction: both at once, during the GEMM, and both during it; in two sizes of buckets.
  EXPECT_THAT(outcome->text, HasSubstr("gradients down, with others                 6 rows, mean 0.0 %"));
  EXPECT_THAT(outcome->text, HasSubstr("the GEMM, with copies                       6 rows"));
  EXPECT_THAT(outcome->markdown, HasSubstr("offload-h200-sxm-141gb.svg"));
}

TEST(ValidateOffload, ALinkThatIsSharedByBothDirectionsFails) {
  const auto outcome = validate_offload({.files = {write("offload", offload_rows(1.3, 1.6))}});
  ASSERT_TRUE(outcome) << render(outcome.error());
  EXPECT_FALSE(outcome->passed);
  EXPECT_THAT(outcome->text, HasSubstr("parameters up, with others: the mean error is"));
  EXPECT_THAT(outcome->text, HasSubstr("the GEMM, with copies: the mean error is"));
}

TEST(ValidateOffload, MistakesAreReportedWithTheirPlace) {
  const auto outcome = validate_offload(
      {.files = {write(
           "offload", std::string(kHead) +
                          "traffic,compute,bytes,bucket_bytes,compute_us,down_us,up_us\nboth,gemm,1024,512,0,0,9\n")}});
  ASSERT_FALSE(outcome);
  EXPECT_THAT(render(outcome.error()), HasSubstr("compute 'gemm' is unknown"));
  EXPECT_THAT(render(outcome.error()), HasSubstr("offload.csv:4:22: error[E163]: a copy takes time"));
}

TEST(ValidateLaunches, HoldsTheTwoConstantsOfTheProfile) {
  const std::string rows = std::string(kHead) +
                           "what,time_us\nlaunch call without arguments,2.1\nkernel after kernel (eager),2.5\n"
                           "kernel after kernel (graph),1.25\n";
  const std::vector<std::string> same = {"gpu.kernels.host.launch=2.5us", "gpu.kernels.stream.gap=1.25us"};
  const auto good = validate_launches({.files = {write("launches", rows)}, .overrides = same});
  ASSERT_TRUE(good) << render(good.error());
  EXPECT_TRUE(good->passed) << good->text;
  EXPECT_THAT(good->text, HasSubstr("2.500     2.500  kernels.host.launch"));
  EXPECT_THAT(good->text, Not(HasSubstr("mean error")));
  const auto bad =
      validate_launches({.files = {write("launches", rows)}, .overrides = {"gpu.kernels.host.launch=5us"}});
  ASSERT_TRUE(bad) << render(bad.error());
  EXPECT_FALSE(bad->passed);
}

}  // namespace
}  // namespace ringwright::validation::suite_tables_test
