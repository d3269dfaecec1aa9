#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/report/report.h"
#include "core/report/text_table.h"
#include "tests/core/report/sample_run.h"

namespace ringwright::report_text_test {
namespace {

using namespace literals;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::sample_facts;
using testing::sample_run;

[[nodiscard]] std::string text(const StepFacts& facts, const TextOptions& options = {}) {
  return render_text(summarise(sample_run().inputs(), facts), options);
}

[[nodiscard]] std::size_t widest_line(const std::string& text) {
  std::istringstream stream(text);
  std::string line;
  std::size_t width = 0;
  while (std::getline(stream, line)) width = std::max(width, visible_width(line));
  return width;
}

TEST(ReportText, StatesModelAndLayout) {
  const std::string report = text(sample_facts());
  EXPECT_THAT(report, HasSubstr("sample  config 3f9a1c42  seed 7  network flow\n"));
  EXPECT_THAT(report, HasSubstr("tiny-1b, 1.234 B parameters | 4 GPUs = TP 2 x PP 2 x DP 1 | 4 microbatches | "
                                "8.192 k tokens/step\n"));
}

TEST(ReportText, GivesTheKeyFigures) {
  const std::string report = text(sample_facts());
  EXPECT_THAT(report, HasSubstr("Step time    100 ms"));
  EXPECT_THAT(report, HasSubstr("Tokens/s/GPU  20,480\n"));
  EXPECT_THAT(report, HasSubstr("MFU          40.0 %, 400 TFLOP/s per GPU    HFU           50.0 %"));
  EXPECT_THAT(report, HasSubstr("Peak memory  80 GiB of 80 GiB (stage 1, 100 %)\n"));
}

TEST(ReportText, ShowsWhereTheStepGoesForAllRanksAndTheSlowestStage) {
  EXPECT_THAT(text(sample_facts()), HasSubstr("  Where one step goes          ms     %  hidden    stage 1     %\n"
                                              "  compute                   67.50  67.5       -      75.00  75.0\n"
                                              "  TP communication          10.00  10.0    33 %       0.00   0.0\n"
                                              "  PP communication           1.00   1.0     0 %       0.00   0.0\n"
                                              "  pipeline bubble, waiting  21.50  21.5       -      25.00  25.0\n"));
}

TEST(ReportText, WritesAbbreviationsLargeAndWordsSmall) {
  auto run = sample_run();
  run.graph.dimensions[1].name = "embedding";
  run.graph.dimensions[1].joins_stages = false;
  const std::string report = render_text(summarise(run.inputs(), sample_facts()));
  EXPECT_THAT(report, HasSubstr("TP communication"));
  EXPECT_THAT(report, HasSubstr("embedding communication"));
  EXPECT_THAT(report, HasSubstr("  waiting "));
}

TEST(ReportText, PutsLinksNextToTheTimesWhereTheTerminalIsWide) {
  EXPECT_THAT(text(sample_facts(), {.width = 120}), HasSubstr("%     Busiest links    busy  count  bytes\n"));
  EXPECT_THAT(text(sample_facts(), {.width = 80}), HasSubstr("\n  Busiest links    busy  count  bytes\n"
                                                             "  leaf3->spine5  93.0 %     16  3 GiB\n"));
}

TEST(ReportText, StaysWithinTheTerminal) {
  StepFacts facts = sample_facts();
  facts.links[0].name = std::string(200, 'x');
  facts.assumptions = {{.path = "cluster.node.nic.latency", .value = "1us",
                        .why = "a long reason that goes on and on until no terminal of ordinary width can hold it"}};
  facts.published = {{.quantity = PublishedQuantity::kStepTime, .value = 1.0, .source = std::string(60, '.')}};
  facts.layout = "TP 8 x CP 2 x EP 4 x PP 16 x DP 128 with a long explanation behind it";
  facts.microbatches = 0;
  EXPECT_LE(widest_line(text(facts, {.width = 80})), 80u);
}

TEST(ReportText, ListsMemoryOfEachStage) {
  EXPECT_THAT(text(sample_facts()), HasSubstr("  Memory per GPU, GiB  stage 0  stage 1\n"
                                              "  weights                10.00    10.00\n"
                                              "  activations            50.00    70.00\n"
                                              "  total                  60.00    80.00\n"
                                              "  of                     80.00    80.00\n"));
}

TEST(ReportText, MemoryOfRecommendationModelsIsByTheirTables) {
  StepFacts facts = sample_facts();
  for (MemoryRow& row : facts.memory) row.kind = "tables";
  EXPECT_THAT(text(facts), HasSubstr("  Memory per GPU, GiB  tables 0  tables 1\n"));
  EXPECT_THAT(text(facts), HasSubstr("(tables 1, 100 %)"));
}

TEST(ReportText, MemoryThatOnlySomeStagesNeedHasARowOfItsOwn) {
  StepFacts facts = sample_facts();
  facts.memory[1].items.insert(facts.memory[1].items.begin() + 1, {"logits", 2_GiB});
  EXPECT_THAT(text(facts), HasSubstr("  weights                10.00    10.00\n"
                                     "  logits                     -     2.00\n"
                                     "  activations            50.00    70.00\n"));
}

TEST(ReportText, OfManyStagesItShowsTheFirstTheFullestAndTheLast) {
  StepFacts facts = sample_facts();
  for (int stage = 2; stage < 16; ++stage) {
    facts.memory.push_back({.stage = stage, .items = facts.memory[0].items, .total = 60_GiB, .capacity = 80_GiB});
  }
  const std::string report = text(facts);
  EXPECT_THAT(report, HasSubstr("Memory per GPU, GiB  stage 0  stage 1  stage 15\n"));
  EXPECT_THAT(text(facts, {.width = 200}), HasSubstr("stage 7 "));
  EXPECT_THAT(text(facts, {.detail = Detail::kVerbose}), HasSubstr("stage 7 "));
}

TEST(ReportText, ReportsAStageThatDoesNotFit) {
  StepFacts facts = sample_facts();
  facts.memory[1].total = 81_GiB;
  EXPECT_THAT(text(facts), HasSubstr("81 GiB of 80 GiB (stage 1, 101 %) does not fit"));
}

TEST(ReportText, ReportsThePlansOfTheLargestCollectives) {
  StepFacts facts = sample_facts();
  for (int i = 0; i < 4; ++i) {
    facts.collectives.push_back({.dimension = "tp",
                                 .operation = "all_reduce",
                                 .bytes = 32_MiB,
                                 .ranks = 8,
                                 .hosts = 1,
                                 .calls = 96,
                                 .algorithm = "nvls",
                                 .protocol = "simple",
                                 .channels = 16,
                                 .shortest = 210_us});
  }
  const std::string shown = render_text(summarise(sample_run().inputs(), facts), {.width = 120});
  EXPECT_THAT(shown,
              HasSubstr("tp: all_reduce of 32 MiB x 96 among 8 ranks on 1 host: nvls, simple, 16 channels; 210 us"));
  EXPECT_THAT(shown, HasSubstr("... and 1 more"));
}

TEST(ReportText, NamesWhatItRestsOn) {
  StepFacts facts = sample_facts();
  facts.assumptions = {{.path = "training.optimizer", .value = "adam", .why = "not in config.json"}};
  facts.ignored = {{.path = "collectives.pxn", .why = "the network model alpha_beta has no NICs"}};
  facts.warnings = {{.code = "W204", .where = "parallel.stage_layers", .text = "stage 0 is 3 % slower"}};
  const std::string report = text(facts);
  EXPECT_THAT(report, HasSubstr("compute calibrated, fabric vendor-spec; not calibrated end to end"));
  EXPECT_THAT(report, HasSubstr("training.optimizer = adam (not in config.json)"));
  EXPECT_THAT(report, HasSubstr("collectives.pxn: the network model alpha_beta has no NICs"));
  EXPECT_THAT(report, HasSubstr("W204 parallel.stage_layers: stage 0 is 3 % slower"));
}

TEST(ReportText, CountsWhatItLeavesOut) {
  StepFacts facts = sample_facts();
  facts.assumptions.assign(7, {.path = "a", .value = "b", .why = ""});
  EXPECT_THAT(text(facts), HasSubstr("... and 2 more (-v)"));
  EXPECT_THAT(text(facts, {.detail = Detail::kVerbose}), Not(HasSubstr("more (-v)")));
}

TEST(ReportText, HoldsItselfAgainstPublishedFigures) {
  StepFacts facts = sample_facts();
  facts.published = {
      {.quantity = PublishedQuantity::kModelFlopUtilisation, .value = 0.41, .source = "a paper, table 4"}};
  EXPECT_THAT(text(facts), HasSubstr("Published    MFU 41.0 %; the prediction is -2.4 % [a paper, table 4]\n"));
}

TEST(ReportText, StatesNoDifferenceToAnotherJob) {
  StepFacts facts = sample_facts();
  facts.published = {{.quantity = PublishedQuantity::kModelFlopUtilisation, .value = 0.41, .source = "a"}};
  facts.changed_since_published = {"parallel.tp"};
  EXPECT_THAT(text(facts), HasSubstr("Published    MFU 41.0 % without the changes of parallel.tp [a]\n"));
  facts.changed_since_published = {"a", "b", "c", "d", "e"};
  EXPECT_THAT(text(facts), HasSubstr("Published    MFU 41.0 % without the changes of a, b, c and 2 more [a]\n"));
}

TEST(ReportText, ReportsHowManyRanksAreSimulated) {
  EXPECT_THAT(
      text(sample_facts()),
      HasSubstr(
          "1,234,567 events, 48 messages; 3 of 4 ranks simulated, each for all equal ranks; 0.25 s, 32 MiB\n"));
  StepFacts unfolded = sample_facts();
  unfolded.engine.classes = 4;
  EXPECT_THAT(text(unfolded), HasSubstr("48 messages; 0.25 s"));
}

TEST(ReportText, UsesColourOnlyWhenAsked) {
  EXPECT_THAT(text(sample_facts()), Not(HasSubstr("\x1b")));
  EXPECT_THAT(text(sample_facts(), {.colour = Colour::kAnsi}), HasSubstr("\x1b[1mringwright\x1b[0m"));
}

TEST(ReportText, ColourDoesNotMoveTheColumns) {
  const std::string plain = text(sample_facts(), {.width = 120});
  EXPECT_EQ(widest_line(text(sample_facts(), {.width = 120, .colour = Colour::kAnsi})), widest_line(plain));
}

TEST(ReportText, QuietGivesTheKeyFiguresOnly) {
  const std::string report = text(sample_facts(), {.detail = Detail::kQuiet});
  EXPECT_THAT(report, HasSubstr("Step time"));
  EXPECT_THAT(report, Not(HasSubstr("Where one step goes")));
  EXPECT_THAT(report, Not(HasSubstr("events")));
}

}  // namespace
}  // namespace ringwright::report_text_test
