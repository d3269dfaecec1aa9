#include "core/config/scalar.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "core/base/random.h"

namespace ringwright::scalar_test {
namespace {

using namespace literals;

TEST(ScalarInteger, ReadsEveryDocumentedForm) {
  const std::pair<const char*, std::int64_t> cases[] = {{"0", 0},
                                                        {"128", 128},
                                                        {"-1", -1},
                                                        {"1_000", 1000},
                                                        {"1_000_000", 1'000'000},
                                                        {"128k", 128'000},
                                                        {"2M", 2'000'000},
                                                        {"3G", 3'000'000'000},
                                                        {"1e9", 1'000'000'000},
                                                        {"1.5k", 1500},
                                                        {"2e3k", 2'000'000},
                                                        {"1E3", 1000},
                                                        {"5e-1k", 500},
                                                        {"1e+3", 1000},
                                                        {"2.0", 2}};
  for (const auto& [text, value] : cases) {
    const auto read = read_integer(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(*read, value) << text;
  }
}

TEST(ScalarInteger, KeepsTheEndsOfTheRange) {
  EXPECT_EQ(read_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(read_integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(read_integer("9223372036854775808").error().code, "E106");
}

TEST(ScalarInteger, RefusesAFloatingFormThatADoubleCannotHold) {
  EXPECT_EQ(read_integer("9007199254740992.0"), 9'007'199'254'740'992);  // 2^53
  EXPECT_EQ(read_integer("1e16").error().code, "E106");
  EXPECT_EQ(read_integer("1e400").error().code, "E106");
}

TEST(ScalarInteger, RefusesWhatOnlyLooksLikeOne) {
  for (const char* text :
       {"",    "-",   "+8", "8 ",   " 8", "8.", "0x10", "1__0", "_1",    "1_",   "1e",   "1.5",
        "1k5", "1kk", "1K", "8GiB", ".",  "e3", "--1",  "1-1",  "1,000", "true", "1e-1", "0.0001k"}) {
    const auto read = read_integer(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, "E105") << text;
  }
}

TEST(ScalarInteger, RefusesLeadingZerosInEverySign) {
  for (const char* text : {"016", "00", "-07", "08", "01k", "0_1", "01e3"}) {
    const auto read = read_integer(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, "E111") << text;
  }
  EXPECT_EQ(read_integer("-007").error().hint, "write -7; YAML readers disagree whether -007 is octal");
}

TEST(ScalarNumber, ReadsFractionsAndExponents) {
  const std::pair<const char*, double> cases[] = {{"0.5", 0.5},   {".5", 0.5},     {"-.25", -0.25},
                                                  {"1e-5", 1e-5}, {"1e-05", 1e-5}, {"6.02e+23", 6.02e23},
                                                  {"2k", 2000.0}, {"7", 7.0}};
  for (const auto& [text, value] : cases) {
    const auto read = read_number(text);
    ASSERT_TRUE(read) << text;
    EXPECT_DOUBLE_EQ(*read, value) << text;
  }
}

TEST(ScalarNumber, RefusesWhatIsNotFinite) {
  for (const char* text : {".inf", "-.inf", ".nan", "inf", "nan", "infinity", "0x1p3"}) {
    ASSERT_FALSE(read_number(text)) << text;
    EXPECT_EQ(read_number(text).error().code, "E105") << text;
  }
  EXPECT_EQ(read_number("1e999").error().code, "E106");
  EXPECT_EQ(read_number("1e308G").error().code, "E106");
}

TEST(ScalarNumber, SurvivesWritingAndReadingWhateverItsBits) {
  RandomStream random(1, "numbers");
  for (int i = 0; i < 20'000; ++i) {
    // Exponents from 1e-150 to 1e150, both signs.
    const double value = (random.next_unit() - 0.5) * std::pow(10.0, 300.0 * (random.next_unit() - 0.5));
    const auto read = read_number(write_number(value));
    ASSERT_TRUE(read) << write_number(value);
    ASSERT_EQ(std::signbit(*read), std::signbit(value));
    ASSERT_FALSE(*read < value || *read > value) << write_number(value);
  }
}

TEST(ScalarInteger, SurvivesWritingAndReading) {
  RandomStream random(2, "integers");
  for (int i = 0; i < 20'000; ++i) {
    const auto value = static_cast<std::int64_t>(random.next() >> random.next_below(64));
    ASSERT_EQ(read_integer(write_integer(value)), value);
  }
}

TEST(ScalarBoolean, IsTrueOrFalseAndNothingElse) {
  EXPECT_EQ(read_boolean("true"), true);
  EXPECT_EQ(read_boolean("false"), false);
  EXPECT_EQ(read_boolean("on").error().hint, "write true");
  EXPECT_EQ(read_boolean("NO").error().hint, "write false");
  EXPECT_EQ(read_boolean("maybe").error().hint, "");
  EXPECT_EQ(read_boolean("maybe").error().says, "must be true or false, not 'maybe'");
}

TEST(ScalarRatio, IsTwoNumbersOrOne) {
  EXPECT_DOUBLE_EQ(read_ratio("2:1").value(), 2.0);
  EXPECT_DOUBLE_EQ(read_ratio("3:2").value(), 1.5);
  EXPECT_DOUBLE_EQ(read_ratio("1.5").value(), 1.5);
  for (const char* text : {"2:", ":1", "2:1:1", "two:one", "", "2/1"})
    EXPECT_EQ(read_ratio(text).error().code, "E105") << text;
  for (const char* text : {"0:1", "1:0", "-2:1", "0", "-1"}) EXPECT_EQ(read_ratio(text).error().code, "E106") << text;
}

TEST(ScalarPercent, IsAShareInBothForms) {
  EXPECT_DOUBLE_EQ(read_percent("10%").value(), 0.1);
  EXPECT_DOUBLE_EQ(read_percent("12.5 %").value(), 0.125);
  EXPECT_DOUBLE_EQ(read_percent("0.1").value(), 0.1);
  EXPECT_EQ(read_percent("%").error().says, "must be a share, not '%'");
  EXPECT_EQ(read_percent("010%").error().code, "E111");
}

TEST(ScalarQuantity, ReadsEveryUnitThatItLists) {
  const auto each_unit = [](QuantityKind kind, auto read) {
    std::string list = unit_list(kind) + ", ";
    int units = 0;
    for (auto comma = list.find(", "); comma != std::string::npos; comma = list.find(", ")) {
      EXPECT_TRUE(read("1" + list.substr(0, comma))) << list.substr(0, comma);
      EXPECT_TRUE(read("1_0.5 " + list.substr(0, comma))) << list.substr(0, comma);
      list.erase(0, comma + 2);
      ++units;
    }
    return units;
  };
  EXPECT_EQ(each_unit(QuantityKind::kDuration, read_duration), 7);
  EXPECT_EQ(each_unit(QuantityKind::kBytes, read_bytes), 9);
  EXPECT_EQ(each_unit(QuantityKind::kBandwidth, read_bandwidth), 9);
  EXPECT_EQ(each_unit(QuantityKind::kFlopRate, read_flop_rate), 3);
}

TEST(ScalarQuantity, HasTheMeaningOfItsPrefix) {
  EXPECT_EQ(read_duration("1.2us"), 1'200_ns);
  EXPECT_EQ(read_bytes("80GiB"), 80_GiB);
  EXPECT_EQ(read_bytes("80 GB"), Bytes(80'000'000'000));
  EXPECT_EQ(read_bandwidth("400Gbps"), 50_GBps);
  EXPECT_EQ(read_flop_rate("989.4TFLOPS"), FlopRate(989.4e12));
}

TEST(ScalarQuantity, SuggestsTheUnitThatWasProbablyMeant) {
  EXPECT_EQ(read_bandwidth("400").error().hint, "did you mean 400Gbps (= 50GB/s)?");
  EXPECT_EQ(read_bandwidth("400e9").error().hint, "did you mean 400Gbps (= 50GB/s)?");  // bits per second
  EXPECT_EQ(read_duration("1.5").error().hint, "did you mean 1.5us?");
  EXPECT_EQ(read_duration("1e-6").error().hint, "did you mean 1e-06s?");  // a number this small is in seconds
  EXPECT_EQ(read_bytes("40").error().hint, "did you mean 40MiB?");
  EXPECT_EQ(read_bytes("41943040").error().hint, "did you mean 41943040B?");
  EXPECT_EQ(read_flop_rate("989").error().hint, "did you mean 989TFLOPS?");
  EXPECT_EQ(read_flop_rate("989e12").error().hint, "did you mean 989TFLOPS?");
}

TEST(ScalarQuantity, SuggestsTheUnitNearestInMeaning) {
  const auto says = [](const std::string& text) { return read_bandwidth(text).error().says; };
  EXPECT_EQ(says("1GBps"), "= 1GBps has the unknown unit 'GBps'; did you mean 'GB/s'?");  // bytes, not bits
  // Bits, not bytes, which would be eight times as much.
  for (const char* unit : {"Gb/s", "Gbit/s", "GBit/s", "Gbit", "Gb"}) {
    EXPECT_EQ(says("1" + std::string(unit)),
              "= 1" + std::string(unit) + " has the unknown unit '" + unit + "'; did you mean 'Gbps'?");
  }
  EXPECT_EQ(says("1GB"), "= 1GB has the unknown unit 'GB'; did you mean 'GB/s'?");
  EXPECT_EQ(says("1gb/s"), "= 1gb/s has the unknown unit 'gb/s'; did you mean 'GB/s' or 'Gbps'?");
  EXPECT_EQ(says("1Gib/s"), "= 1Gib/s has the unknown unit 'Gib/s'");
  EXPECT_EQ(says("1gbps"), "= 1gbps has the unknown unit 'gbps'; did you mean 'Gbps'?");
  EXPECT_EQ(says("1Gbsp"), "= 1Gbsp has the unknown unit 'Gbsp'; did you mean 'Gbps'?");
  EXPECT_EQ(says("1parsec"), "= 1parsec has the unknown unit 'parsec'");
}

TEST(ScalarQuantity, IsWrittenInTheShortestExactForm) {
  EXPECT_EQ(write_duration(1'200_ns), "1.2us");
  EXPECT_EQ(write_duration(Duration(1)), "1ps");
  EXPECT_EQ(write_duration(90_s), "90s");
  EXPECT_EQ(write_bytes(40_MiB), "40MiB");
  EXPECT_EQ(write_bytes(Bytes(80'000'000'000)), "80GB");
  EXPECT_EQ(write_bytes(Bytes(1023)), "1023B");
  EXPECT_EQ(write_bandwidth(50_GBps), "50GB/s");
  EXPECT_EQ(write_flop_rate(989_TFLOPS), "989TFLOPS");
  EXPECT_EQ(write_bandwidth(Bandwidth(1e22)), "1e13GB/s");
  EXPECT_EQ(write_flop_rate(FlopRate(1e25)), "1e16GFLOPS");
  EXPECT_EQ(write_bandwidth(Bandwidth(1e3)), "0.001MB/s");
}

TEST(ScalarQuantity, SurvivesWritingAndReading) {
  RandomStream random(3, "quantities");
  for (int i = 0; i < 5'000; ++i) {
    // Up to 2^53: beyond, the units library itself rounds.
    const auto raw = static_cast<std::int64_t>(random.next() >> (11U + random.next_below(50)));
    ASSERT_EQ(read_duration(write_duration(Duration(raw))), Duration(raw));
    ASSERT_EQ(read_bytes(write_bytes(Bytes(raw))), Bytes(raw));
    const Bandwidth rate(static_cast<double>(raw) * 1e3);
    ASSERT_EQ(read_bandwidth(write_bandwidth(rate)), rate) << write_bandwidth(rate);
  }
}

TEST(ScalarQuantity, DistinguishesTooLargeFromUnknown) {
  EXPECT_EQ(read_duration("1e9h").error().code, "E106");
  EXPECT_EQ(read_bytes("1e9TiB").error().code, "E106");
  EXPECT_EQ(read_duration("1e999us").error().code, "E106");
}

}  // namespace
}  // namespace ringwright::scalar_test
