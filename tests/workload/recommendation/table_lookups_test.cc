// Rows that a step touches: distinct ones, and those that the cache has.
#include <gtest/gtest.h>

#include "workload/recommendation/row_access.h"
#include "workload/recommendation/table_lookups.h"

namespace ringwright::workload::table_lookups_test {
namespace {

// One table of a million rows of 64 columns, ten rows for each of 1,000 samples.
TableShare share_of(double parts) {
  return {.tables = 1, .rows = 1e6 / parts, .columns = 64, .lookups = 10'000.0 / parts, .samples = 1000.0,
          .parts = parts};
}

TEST(TableLookups, RowsOfFixedBagsAreThoseOfTheFirstOnes) {
  RecommendationModel model;
  model.zipf = 1.05;
  const double drawn = TableLookups(model, share_of(1.0)).distinct(1.0);
  model.fixed_bags = true;
  const double bags = TableLookups(model, share_of(1.0)).distinct(1.0);
  EXPECT_DOUBLE_EQ(bags, 10.0 * RowAccess(1e6, 1.05).distinct(1000.0));
  EXPECT_GT(bags, drawn);
}

// Split over ranks, each has an equal share of the distinct rows.
TEST(TableLookups, PartsHaveEqualSharesOfTheDistinctRows) {
  for (const bool fixed : {false, true}) {
    RecommendationModel model;
    model.zipf = 1.05;
    model.fixed_bags = fixed;
    const TableLookups part(model, share_of(4.0)), whole(model, share_of(1.0));
    EXPECT_NEAR(4.0 * part.distinct(1.0), whole.distinct(1.0), 1e-6);
    EXPECT_NEAR(4.0 * part.distinct(1.0, 500.0), whole.distinct(1.0, 2000.0), 1e-6);
    EXPECT_NEAR(part.share_of_top(500.0), whole.share_of_top(2000.0), 1e-9);
  }
}

TEST(TableLookups, BagsNeverHaveMoreRowsThanTheTable) {
  RecommendationModel model;
  model.fixed_bags = true;
  const TableShare few{.tables = 1, .rows = 50.0, .columns = 64, .lookups = 10'000.0, .samples = 1000.0};
  EXPECT_DOUBLE_EQ(TableLookups(model, few).distinct(1.0), 50.0);
}

// A hundred times as many lookups, so that what is popular repeats.
TableShare busy_share() {
  TableShare share = share_of(1.0);
  share.lookups *= 100.0;
  share.samples *= 100.0;
  return share;
}

TEST(TableLookups, TheCacheHasTheMostPopularRows) {
  RecommendationModel model;
  model.zipf = 1.05;
  EXPECT_EQ(cached_lookups(model, {busy_share()}), 0.0) << "without a cache";
  // 1,000 rows of 256 bytes.
  model.lookup_cache = {.bytes = Bytes(256'000), .speed = 2.0};
  EXPECT_DOUBLE_EQ(cached_lookups(model, {busy_share()}), RowAccess(1e6, 1.05).share_of_top(1000.0));
  // Of bags of ten rows it has those of the hundred most popular first rows, and of others nine rows by chance.
  model.fixed_bags = true;
  const double popular = RowAccess(1e6, 1.05).share_of_top(100.0);
  EXPECT_DOUBLE_EQ(cached_lookups(model, {busy_share()}), popular + (1.0 - popular) * 0.001 * 0.9);
  // Tables that fit as a whole are for the kernel's own rule.
  model.lookup_cache.bytes = Bytes(256'000'000);
  EXPECT_EQ(cached_lookups(model, {busy_share()}), 0.0);
}

// What is looked up once is in no cache, however large.
TEST(TableLookups, OnlyRepeatedLookupsAreCached) {
  RecommendationModel model;
  model.zipf = 0.0;
  model.lookup_cache = {.bytes = Bytes(255'000'000), .speed = 2.0};
  const double repeated = 1.0 - TableLookups(model, share_of(1.0)).distinct(1.0) / 10'000.0;
  EXPECT_DOUBLE_EQ(cached_lookups(model, {share_of(1.0)}), repeated);
}

// Two tables that look up as many bytes have half the cache each.
TEST(TableLookups, TablesShareTheCacheByWhatTheyLookUp) {
  RecommendationModel model;
  model.zipf = 1.05;
  model.lookup_cache = {.bytes = Bytes(512'000), .speed = 2.0};
  const double both = cached_lookups(model, {busy_share(), busy_share()});
  EXPECT_DOUBLE_EQ(both, RowAccess(1e6, 1.05).share_of_top(1000.0));
}

// A sample brings its whole bag, over the batches of a lookahead and past a cache of popular rows.
TEST(TableLookups, FixedBagsAreFetchedAndHeldWhole) {
  RecommendationModel model;
  model.zipf = 1.05;
  model.fixed_bags = true;
  model.cache.lookahead = 3;
  const RowAccess first(1e6, 1.05);
  EXPECT_DOUBLE_EQ(held_rows(model, share_of(1.0)), 10.0 * first.distinct(3'000.0));
  EXPECT_DOUBLE_EQ(fetched_rows(model, share_of(1.0)), 10.0 * (first.distinct(4'000.0) - first.distinct(3'000.0)));
  model.cache = {.rows = 0.01};
  EXPECT_DOUBLE_EQ(fetched_rows(model, share_of(1.0)), 10.0 * first.distinct(1'000.0, 1'000.0) * (1.0 - 0.01 * 0.9));
  model.cache.rows = 1.0;
  EXPECT_EQ(fetched_rows(model, share_of(1.0)), 0.0);
}

}  // namespace
}  // namespace ringwright::workload::table_lookups_test
