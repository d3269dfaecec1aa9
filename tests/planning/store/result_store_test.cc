#include "planning/store/result_store.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <sqlite3.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace ringwright::planning::result_store_test {
namespace {

class Store : public testing::Test {
 protected:
  Store() : folder_(testing::TempDir() + "ringwright_store_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~Store() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  [[nodiscard]] ResultStore open(const std::string& name) const {
    auto store = ResultStore::open(path(name));
    if (!store) throw std::runtime_error(render(store.error()));
    return std::move(*store);
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }

 private:
  std::string folder_;
};

Point point(const std::string& fingerprint, std::int64_t picoseconds) {
  Point result{.fingerprint = fingerprint, .status = PointStatus::kOk};
  result.figures.step = Duration(picoseconds);
  result.figures.parts = {{.cause = "compute", .time = Duration(picoseconds - 1)},
                          {.cause = "bubble and waiting", .time = Duration(1)}};
  result.figures.tokens_per_second_per_gpu = 0.1;
  result.figures.model_flop_utilisation = 1.0 / 3.0;
  result.figures.gpus = 8;
  result.figures.memory = Bytes(1LL << 36);
  return result;
}

TEST_F(Store, ReturnsAPointAsItWasStored) {
  // Beyond 2^53 picoseconds, which a double would round.
  const Point stored = point("a", (std::int64_t{1} << 53) + 1);
  ASSERT_FALSE(open("x.sqlite").put(stored).has_errors());
  ResultStore again = open("x.sqlite");
  const auto found = again.find("a");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->figures.step, stored.figures.step);
  EXPECT_EQ((*found)->figures.parts, stored.figures.parts);
  EXPECT_EQ((*found)->figures.model_flop_utilisation, stored.figures.model_flop_utilisation);
  EXPECT_EQ((*found)->figures.memory, stored.figures.memory);
  EXPECT_FALSE((*found)->figures.cost.usd.has_value());
  EXPECT_FALSE(again.find("b")->has_value());
}

TEST_F(Store, TheFirstResultOfAPointStays) {
  ResultStore store = open("x.sqlite");
  ASSERT_FALSE(store.put(point("a", 10)).has_errors());
  ASSERT_FALSE(store.put(point("a", 20)).has_errors());
  EXPECT_EQ((*store.find("a"))->figures.step, Duration(10));
  EXPECT_EQ(store.size(), 1U);
}

TEST_F(Store, MergesAnotherDatabase) {
  ResultStore store = open("x.sqlite");
  ASSERT_FALSE(store.put(point("a", 10)).has_errors());
  {
    ResultStore other = open("y.sqlite");
    ASSERT_FALSE(other.put(point("a", 10)).has_errors());
    ASSERT_FALSE(other.put(point("b", 20)).has_errors());
  }
  ASSERT_FALSE(store.merge(path("y.sqlite")).has_errors());
  EXPECT_EQ(store.size(), 2U);
  EXPECT_EQ((*store.find("b"))->figures.parts.size(), 2U);
}

// As after an update of the program: a point that other sources computed is neither returned nor lost.
TEST_F(Store, UsesNoPointsOfAnotherVersion) {
  ResultStore store = open("x.sqlite");
  ASSERT_FALSE(store.put(point("a", 10)).has_errors());
  EXPECT_TRUE(store.unused().all().empty());
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path("x.sqlite").c_str(), &database), SQLITE_OK);
  const char* update =
      "UPDATE points SET version = '0.1.0-000000000000'; UPDATE parts SET version = '0.1.0-000000000000'";
  EXPECT_EQ(sqlite3_exec(database, update, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  EXPECT_FALSE(store.find("a")->has_value());
  ASSERT_FALSE(store.put(point("a", 20)).has_errors());
  EXPECT_EQ((*store.find("a"))->figures.step, Duration(20));
  const Diagnostics unused = store.unused();
  ASSERT_EQ(unused.all().size(), 1U);
  EXPECT_FALSE(unused.has_errors());
  EXPECT_EQ(unused.all().front().code, "W310");
  EXPECT_NE(unused.all().front().message.find("points of version 0.1.0-000000000000 (1)"), std::string::npos);
  EXPECT_EQ(store.size(), 2U);
}

TEST_F(Store, LeavesFilesOfOthersAlone) {
  write("notes.txt", "not a database at all, but long enough to be taken for the header of one, if it were one\n");
  const auto opened = ResultStore::open(path("notes.txt"));
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().all().front().code, "E310");
  std::ifstream file(path("notes.txt"));
  const std::string after{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(after.substr(0, 14), "not a database");
  ResultStore store = open("x.sqlite");
  EXPECT_TRUE(store.merge(path("notes.txt")).has_errors());
  EXPECT_TRUE(store.merge(path("missing.sqlite")).has_errors());
  EXPECT_FALSE(std::filesystem::exists(path("missing.sqlite")));
  EXPECT_FALSE(store.put(point("a", 10)).has_errors());
}

}  // namespace
}  // namespace ringwright::planning::result_store_test
