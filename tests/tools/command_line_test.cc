#include "tools/command_line.h"

#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::tools::command_line_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A command that takes one option of each kind.
class Probe final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "probe"; }
  [[nodiscard]] std::string_view summary() const override { return "a command for this test"; }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    return {{.names = "config", .value = "", .doc = "a file", .target = &config, .required = true},
            {.names = "--set", .value = "KEY=VALUE", .doc = "an override", .target = &overrides},
            {.names = "--seed", .value = "N", .doc = "a number", .target = &seed, .least = 1, .most = 100},
            {.names = "--dry-run", .value = "", .doc = "a flag", .target = &dry_run},
            {.names = "-o,--table", .value = "FILE", .doc = "a file", .target = &table, .writes = true}};
  }
  [[nodiscard]] ExitCode run(const CommonOptions&) override { return ExitCode::kOk; }

  std::string config;
  std::vector<std::string> overrides;
  std::optional<std::uint64_t> seed;
  std::string table;
  bool dry_run = false;
};

class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() { commands_.push_back(std::make_unique<Probe>()); }
  ParsedCommand parse(const std::vector<std::string>& arguments) { return tools::parse(commands_, arguments); }
  [[nodiscard]] const Probe& probe() const { return static_cast<const Probe&>(*commands_.front()); }
  void expect_error(const std::vector<std::string>& arguments, const std::string& message) {
    const ParsedCommand parsed = parse(arguments);
    EXPECT_EQ(parsed.command, nullptr);
    EXPECT_EQ(parsed.exit_code, ExitCode::kUsage);
    EXPECT_EQ(parsed.text.substr(0, parsed.text.find('\n')), message);
  }

 private:
  std::vector<std::unique_ptr<Command>> commands_;
};

TEST_F(CommandLineTest, ReadsOptionsOfEveryKind) {
  const ParsedCommand parsed = parse({"probe", "a.yaml", "--seed", "7", "--dry-run"});
  EXPECT_EQ(parsed.command, &probe());
  EXPECT_EQ(probe().config, "a.yaml");
  EXPECT_EQ(probe().seed, 7u);
  EXPECT_TRUE(probe().dry_run);
}

TEST_F(CommandLineTest, AFileThatIsReadIsNotWritten) {
  const std::string folder = testing::TempDir();
  const std::string input = folder + "command_line_test.yaml";
  std::ofstream(input) << "cluster: {}\n";
  expect_error({"probe", input, "-o", input},
               "error: --table is '" + input + "', which is read and would be overwritten");
  const std::string other = folder + "./command_line_test.yaml";  // another name of the same file
  expect_error({"probe", input, "-o", other},
               "error: --table is '" + other + "', which is read and would be overwritten");
  expect_error({"probe", input, "-o", folder + "nowhere/a.csv"},
               "error: cannot write '" + folder + "nowhere/a.csv': there is no folder '" + folder + "nowhere'");
  EXPECT_NE(parse({"probe", input, "-o", folder + "command_line_test.csv"}).command, nullptr);
  EXPECT_NE(parse({"probe", input, "-o", "-"}).command, nullptr);
}

TEST_F(CommandLineTest, AnOptionThatMayBeRepeatedTakesOneValueEachTime) {
  EXPECT_NE(parse({"probe", "--set", "parallel.tp=4", "--set=parallel.pp=2", "a.yaml"}).command, nullptr);
  EXPECT_THAT(probe().overrides, ElementsAre("parallel.tp=4", "parallel.pp=2"));
  EXPECT_EQ(probe().config, "a.yaml");
}

TEST_F(CommandLineTest, EveryCommandTakesTheCommonOptions) {
  const ParsedCommand parsed = parse({"probe", "-q", "a.yaml", "--json", "-v", "--no-color"});
  EXPECT_TRUE(parsed.common.quiet);
  EXPECT_TRUE(parsed.common.json);
  EXPECT_TRUE(parsed.common.verbose);
  EXPECT_TRUE(parsed.common.no_color);
}

TEST_F(CommandLineTest, AnUnknownCommandIsReportedWithTheNearest) {
  expect_error({"prob", "a.yaml"}, "error: unknown command 'prob'; did you mean 'probe'?");
  expect_error({"something"}, "error: unknown command 'something'");
}

TEST_F(CommandLineTest, AFileInPlaceOfACommandHintsAtRun) {
  expect_error({"a.yaml"}, "error: unknown command 'a.yaml'; did you mean 'run a.yaml'?");
}

TEST_F(CommandLineTest, AScenarioInPlaceOfACommandHintsAtRun) {
  expect_error({"gpt2-1.5b-dgx-a10"},
               "error: unknown command 'gpt2-1.5b-dgx-a10'; did you mean 'run gpt2-1.5b-dgx-a100'?");
  expect_error({"llama3-8b-8-h100"}, "error: unknown command 'llama3-8b-8-h100'; did you mean 'run llama3-8b-8-h100'?");
}

TEST_F(CommandLineTest, AnUnknownOptionIsReportedWithTheNearest) {
  expect_error({"probe", "a.yaml", "--dryrun"}, "error: unknown option '--dryrun'; did you mean '--dry-run'?");
  expect_error({"probe", "a.yaml", "--jsn=1"}, "error: unknown option '--jsn'; did you mean '--json'?");
  expect_error({"probe", "a.yaml", "--elephant"}, "error: unknown option '--elephant'");
}

TEST_F(CommandLineTest, AnArgumentTooManyIsReported) {
  expect_error({"probe", "a.yaml", "b.yaml"}, "error: 'b.yaml' is one argument too many");
}

TEST_F(CommandLineTest, AMissingArgumentIsReported) {
  expect_error({"probe"}, "error: ringwright probe: config is required");
}

TEST_F(CommandLineTest, ANumberMustBeOne) {
  const ParsedCommand parsed = parse({"probe", "a.yaml", "--seed", "many"});
  EXPECT_EQ(parsed.exit_code, ExitCode::kUsage);
  EXPECT_THAT(parsed.text, HasSubstr("--seed"));
  EXPECT_THAT(parsed.text, HasSubstr("many"));
}

TEST_F(CommandLineTest, ANumberStaysInItsRange) {
  for (const std::string wrong : {"-1", "0", "101", "4294967297", "18446744073709551616", "1e3", "7x", ""}) {
    expect_error({"probe", "a.yaml", "--seed", wrong},
                 "error: --seed is '" + wrong + "' and must be a whole number from 1 to 100");
  }
}

TEST_F(CommandLineTest, AnOptionBeforeTheCommandIsReportedWhereToGo) {
  expect_error({"--json", "probe"}, "error: the first argument must be a command, not '--json'");
}

TEST_F(CommandLineTest, HelpIsAnAnswerNotAnError) {
  const ParsedCommand overview = parse({"--help"});
  EXPECT_EQ(overview.exit_code, ExitCode::kOk);
  EXPECT_THAT(overview.text, HasSubstr("probe      a command for this test"));
  const ParsedCommand page = parse({"probe", "--help"});
  EXPECT_EQ(page.exit_code, ExitCode::kOk);
  EXPECT_THAT(page.text, HasSubstr("--set KEY=VALUE"));
}

TEST_F(CommandLineTest, WithoutArgumentsItExplainsItselfAndFails) {
  const ParsedCommand parsed = parse({});
  EXPECT_EQ(parsed.exit_code, ExitCode::kUsage);
  EXPECT_THAT(parsed.text, HasSubstr("usage: ringwright COMMAND"));
}

}  // namespace
}  // namespace ringwright::tools::command_line_test
