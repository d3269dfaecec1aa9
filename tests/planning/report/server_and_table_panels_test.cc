// Pages of parameter servers by how they apply gradients, and of embedding tables.
#include <cmath>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/planning/report/sample_results.h"

namespace ringwright::planning::server_and_table_panels_test {
namespace {

using namespace samples;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A ring does 2000 samples/s, synchronous servers half of it, asynchronous ones 0.9.
constexpr std::string_view kServers = R"({
  "schema": "ringwright.servers/1", "scenario": "s", "workers": 8, "servers": 1, "computing_ps": 100000000000,
  "ring": {"step_ps": 128000000000, "samples_per_s": 2000}, "rows": [
    {"updates": "sync", "samples_per_s": 1000, "step_ps": 256000000000, "slowest_of_fastest": 1, "mean_staleness": 0,
     "most_staleness": 0, "waiting": 0.25, "exchanging": 0.25, "server_busy": 0.5, "longest_queue": 8},
    {"updates": "async", "samples_per_s": 1800, "step_ps": 142000000000, "slowest_of_fastest": 0.3,
     "mean_staleness": 7, "most_staleness": 12, "waiting": 0, "exchanging": 0.2, "server_busy": 0.9,
     "longest_queue": 5}]})";

constexpr std::string_view kEmbeddings = R"({
  "schema": "ringwright.embeddings/1", "scenario": "e", "step_ps": 10000000000, "table_bytes": 1099511627776,
  "unique_rows": 0.4,
  "caches": [{"rows": 0.01, "hits": 0.7, "fetched_bytes": 2147483648}, {"rows": 0.1, "hits": 0.9, "fetched_bytes": 1073741824}],
  "lookaheads": [{"batches": 1, "held": 0.01, "fetched_bytes": 1048576}, {"batches": 50, "held": 0.2, "fetched_bytes": 524288}],
  "checkpoints": [
    {"policy": "full", "second_bytes": 1024, "mean_bytes": 1024, "kept_bytes": 1024, "less_written": 1, "less_kept": 1},
    {"policy": "one_shot", "second_bytes": 256, "mean_bytes": 512, "kept_bytes": 1536, "less_written": 2, "less_kept": 0.7}],
  "recoveries": [{"kind": "full", "interval_ps": 1800000000000000, "overhead": 0.05, "pls": 0},
                 {"kind": "partial", "interval_ps": 7200000000000000, "overhead": 0.01, "pls": 0.02}],
  "erasure_code": {"memory_overhead": 0.25, "parity_bytes": 1048576, "overhead": 0.1, "rebuild_ps": 60000000000000}})";

std::vector<std::string> ids_of(const ReportSection& section) {
  std::vector<std::string> ids;
  for (const Panel& panel : section.panels) ids.push_back(panel.id);
  return ids;
}

TEST(ServersHeader, NamesTheFastestUpdatesAndTheirStaleness) {
  const ReportSection section = section_from(kServers);
  EXPECT_THAT(section.subtitle, HasSubstr("8 hosts of workers and 1 parameter server,"));
  EXPECT_EQ(section.figures[0].value, "async");
  EXPECT_EQ(section.figures[1].value, "1,800 samples/s");
  EXPECT_EQ(section.figures[1].remark, "0.90x a ring all-reduce of the workers");
  EXPECT_EQ(section.figures[2].value, "7.00");
  EXPECT_THAT(section.sentences,
              ElementsAre("Updates that wait for nobody are 1.80 times as fast as synchronous ones; the slowest worker "
                          "then does 30.0 % of the steps of the fastest."));
}

TEST(ServersPanels, ShowSpeedStalenessAndTheWorkersTime) {
  const ReportSection section = section_from(kServers);
  EXPECT_THAT(ids_of(section), ElementsAre("servers-speeds", "servers-staleness", "servers-time", "servers-rows"));
  const Panel speeds = panel_of(section, "servers-speeds");
  EXPECT_THAT(numbers_of(speeds, 1), ElementsAre(1000, 1800));
  EXPECT_EQ(speeds.marks.front().value, 2000);
  EXPECT_THAT(numbers_of(panel_of(section, "servers-staleness"), 1), ElementsAre(0, 7));
  const Panel time = panel_of(section, "servers-time");
  EXPECT_THAT(numbers_of(time, 1), ElementsAre(50, 80));  // what is left is computing
  EXPECT_THAT(numbers_of(panel_of(section, "servers-rows"), 2), ElementsAre(50, 90));
}

TEST(EmbeddingsHeader, NamesTheSmallestCheckpointAndTheCheapestRecovery) {
  const ReportSection section = section_from(kEmbeddings);
  EXPECT_EQ(section.figures[0].value, "1 TiB");
  EXPECT_EQ(section.figures[2].value, "512 B");
  EXPECT_THAT(section.figures[2].remark, HasSubstr("one_shot: 2.0x less"));
  EXPECT_EQ(section.figures[3].value, "1.0 %");
  EXPECT_THAT(section.figures[3].remark, HasSubstr("partial recovery and 2.0 % of the samples lost"));
  EXPECT_EQ(section.sentences.front(),
            "The most popular 1.0 % of the rows meet 70.0 % of the lookups; 40.0 % of a step's lookups are of distinct "
            "rows.");
}

TEST(EmbeddingsPanels, ShowCachesCheckpointsAndRecovery) {
  const ReportSection section = section_from(kEmbeddings);
  EXPECT_THAT(ids_of(section), ElementsAre("embeddings-caches", "embeddings-lookaheads", "embeddings-checkpoints",
                                           "embeddings-recoveries", "embeddings-policies", "embeddings-intervals"));
  const Panel caches = panel_of(section, "embeddings-caches");
  EXPECT_THAT(numbers_of(caches, 1), ElementsAre(1, 10));
  EXPECT_THAT(numbers_of(caches, 2), ElementsAre(70, 90));
  EXPECT_EQ(caches.columns[3].unit, "GiB");
  EXPECT_THAT(numbers_of(caches, 3), ElementsAre(2, 1));
  EXPECT_THAT(numbers_of(panel_of(section, "embeddings-lookaheads"), 2), ElementsAre(1, 0.5));  // MiB
  EXPECT_THAT(numbers_of(panel_of(section, "embeddings-recoveries"), 1), ElementsAre(5, 1));
  const Panel intervals = panel_of(section, "embeddings-intervals");
  EXPECT_EQ(intervals.columns[1].unit, "h");
  EXPECT_THAT(numbers_of(intervals, 1), ElementsAre(0.5, 2));
}

// What a user's editor may have left: no crash, whatever is missing.
TEST(ServerAndTablePanels, TakeRowsWithoutValues) {
  for (const std::string_view text :
       {R"({"schema": "ringwright.servers/1", "scenario": "s", "ring": {}, "rows": [{}, 3, null]})",
        R"({"schema": "ringwright.servers/1", "scenario": "s", "ring": {}, "rows": []})",
        R"({"schema": "ringwright.embeddings/1", "scenario": "s", "table_bytes": 1, "checkpoints": [{}, 3],
            "recoveries": [null], "caches": [{}], "lookaheads": [7]})",
        R"({"schema": "ringwright.embeddings/1", "scenario": "s", "table_bytes": 1, "checkpoints": []})"}) {
    const ReportSection section = section_from(text);
    EXPECT_THAT(section.title, Not(testing::IsEmpty()));
    for (const Panel& panel : section.panels) {
      for (const PanelColumn& column : panel.columns) EXPECT_EQ(column.size(), panel.columns[0].size()) << panel.id;
    }
  }
}

}  // namespace
}  // namespace ringwright::planning::server_and_table_panels_test
