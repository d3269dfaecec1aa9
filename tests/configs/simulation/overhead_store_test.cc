#include "configs/simulation/overhead_store.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "configs/simulation/known_overheads.h"

namespace ringwright::configs::overhead_store_test {
namespace {

namespace fs = std::filesystem;

class OverheadStoreTest : public ::testing::Test {
 protected:
  OverheadStoreTest()
      : folder_(fs::path(testing::TempDir()) / (std::string("overhead_store_test_") +
                                                testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
  }
  ~OverheadStoreTest() override { fs::remove_all(folder_); }

  [[nodiscard]] std::vector<fs::path> files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_)) files.push_back(entry.path());
    return files;
  }
  [[nodiscard]] std::string content() const {
    std::ifstream file(files().front());
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void write(const std::string& content) const { std::ofstream(files().front()) << content; }

  fs::path folder_;
};

// Of 64 ranks: costly.
KnownOverheads::Key key(Bytes bytes) {
  return {.bytes = bytes,
          .plan = {.algorithm = "ring", .channels = 8},
          .host_of = std::vector<int>(64, 0),
          .gpu_of = std::vector<int>(64, 0)};
}

TEST_F(OverheadStoreTest, RetainsTimesForTheNextProgram) {
  {
    OverheadStore store((folder_ / "new").string());
    EXPECT_FALSE(store.find("a").has_value());
    store.put("a", Duration(17));
    store.put("b", Duration());
    EXPECT_EQ(store.find("a"), Duration(17));
  }
  OverheadStore store((folder_ / "new").string());
  EXPECT_EQ(store.find("a"), Duration(17));
  EXPECT_EQ(store.find("b"), Duration());
  EXPECT_FALSE(store.find("c").has_value());
  EXPECT_EQ(store.size(), 2);
}

TEST_F(OverheadStoreTest, SharesTheFileWithOtherPrograms) {
  OverheadStore first(folder_.string()), second(folder_.string());
  first.put("a", Duration(1));
  second.put("b", Duration(2));
  first.put("c", Duration(3));
  OverheadStore third(folder_.string());
  EXPECT_EQ(third.size(), 3);
  EXPECT_EQ(third.find("b"), Duration(2));
}

TEST_F(OverheadStoreTest, IgnoresWhatIsDamaged) {
  OverheadStore(folder_.string()).put("a", Duration(1234567));
  OverheadStore(folder_.string()).put("b", Duration(2));
  std::string text = content();
  text[text.find("1234567")] = '9';  // a time that nothing was found to take
  write("\nshort\n" + text + std::string(3, '\0') + text.substr(0, 40));
  OverheadStore store(folder_.string());
  EXPECT_FALSE(store.find("a").has_value());
  EXPECT_EQ(store.find("b"), Duration(2));
  EXPECT_EQ(store.size(), 1);
}

TEST_F(OverheadStoreTest, DoesWithoutAFileWhereNoneCanBeWritten) {
  OverheadStore nowhere("");
  nowhere.put("a", Duration(1));
  EXPECT_FALSE(nowhere.find("a").has_value());
  fs::create_directories(folder_);
  std::ofstream(folder_ / "file") << "no folder";
  OverheadStore refused((folder_ / "file").string());
  refused.put("a", Duration(1));
  EXPECT_EQ(refused.find("a"), Duration(1));
  EXPECT_EQ(OverheadStore((folder_ / "file").string()).size(), 0);
}

TEST_F(OverheadStoreTest, RemovesOtherVersionsAfterAMonth) {
  fs::create_directories(folder_);
  for (const char* name : {"overheads-0.0.1-old", "overheads-0.0.2-new", "notes"}) std::ofstream(folder_ / name) << "x";
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(24 * 40);
  for (const char* name : {"overheads-0.0.1-old", "notes"}) fs::last_write_time(folder_ / name, long_ago);
  OverheadStore(folder_.string()).put("a", Duration(1));
  EXPECT_FALSE(fs::exists(folder_ / "overheads-0.0.1-old"));
  EXPECT_TRUE(fs::exists(folder_ / "overheads-0.0.2-new"));
  EXPECT_TRUE(fs::exists(folder_ / "notes"));
}

TEST_F(OverheadStoreTest, GivesKnownOverheadsOfOneMachineTheirTimes) {
  const auto found = [&](const char* machine, const KnownOverheads::Key& call, Duration time,
                         OverheadAccuracy accuracy = OverheadAccuracy::kExact) {
    OverheadStore store(folder_.string());
    KnownOverheads known(accuracy);
    known.retain_in(&store, machine);
    return known.overhead(call, [&] { return time; });
  };
  const KnownOverheads::Key call = key(Bytes(1000));
  EXPECT_EQ(found("eight hosts", call, Duration(5)), Duration(5));
  EXPECT_EQ(found("eight hosts", call, Duration(6)), Duration(5));
  // Anything else is found anew.
  EXPECT_EQ(found("nine hosts", call, Duration(6)), Duration(6));
  EXPECT_EQ(found("eight hosts", call, Duration(7), OverheadAccuracy::kInterpolated), Duration(7));
  EXPECT_EQ(found("eight hosts", key(Bytes(1001)), Duration(8)), Duration(8));
  KnownOverheads::Key other = call;
  other.plan.protocol = Protocol::kLl;
  EXPECT_EQ(found("eight hosts", other, Duration(9)), Duration(9));
  other = call;
  other.plan.paths = {{{.order = {1, 0}}}};
  EXPECT_EQ(found("eight hosts", other, Duration(10)), Duration(10));
  OverheadStore store(folder_.string());
  KnownOverheads known;
  known.retain_in(&store, "eight hosts");
  EXPECT_EQ(known.kernels(call, [] { return Duration(11); }), Duration(11));
}

TEST_F(OverheadStoreTest, IsNotAskedForSmallCalls) {
  OverheadStore store(folder_.string());
  KnownOverheads known;
  known.retain_in(&store, "eight hosts");
  KnownOverheads::Key small = key(Bytes(1000));
  small.host_of.resize(2);
  EXPECT_EQ(known.overhead(small, [] { return Duration(5); }), Duration(5));
  EXPECT_EQ(store.size(), 0);
}

}  // namespace
}  // namespace ringwright::configs::overhead_store_test
