#include "traces/input/byte_stream.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/support/own_folder.h"

namespace ringwright::traces::byte_stream_test {
namespace {

class ByteStreams : public testing::Test {
 protected:
  std::string file(const std::string& content) {
    const std::string path = (folder_ / "trace.json").string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  std::string gzip_file(const std::string& content) {
    const std::string path = (folder_ / "trace.bin").string();
    gzFile out = gzopen(path.c_str(), "wb");
    gzwrite(out, content.data(), static_cast<unsigned>(content.size()));
    gzclose(out);
    return path;
  }
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

 private:
  std::filesystem::path folder_ = std::filesystem::path(test::own_folder());
};

TEST_F(ByteStreams, ReadsPlainFiles) {
  EXPECT_EQ(read_all(file("abc"), 10).value(), "abc");
}

TEST_F(ByteStreams, DecompressesByContentNotByName) {
  const std::string text(3'000'000, 'x');
  EXPECT_EQ(read_all(gzip_file(text), 4'000'000).value(), text);
}

TEST_F(ByteStreams, AWholeTextHasNoByteOrderMark) {
  EXPECT_EQ(read_all(file("\xEF\xBB\xBF{}"), 10).value(), "{}");
  EXPECT_EQ(read_all(file("\xEF\xBB{}"), 10).value(), "\xEF\xBB{}");
}

TEST_F(ByteStreams, Utf16IsAnError) {
  EXPECT_EQ(read_all(file(std::string("\xFF\xFE{\0}\0", 6)), 10).error(), "it is UTF-16; save it as UTF-8");
  EXPECT_EQ(read_all(file(std::string("\xFE\xFF\0{\0}", 6)), 10).error(), "it is UTF-16; save it as UTF-8");
}

TEST_F(ByteStreams, AFileOfExactlyTheLimitIsRead) {
  EXPECT_EQ(read_all(file("abc"), 3).value(), "abc");
}

TEST_F(ByteStreams, StopsAtTheLimitOfDecompressedBytes) {
  EXPECT_EQ(read_all(gzip_file(std::string(5U << 20U, '\0')), 1U << 20U).error(), "it is larger than 1 MiB");
}

TEST_F(ByteStreams, ATruncatedGzipFileIsAnError) {
  const std::string path = gzip_file(std::string(100, 'a') + std::string(100, 'b'));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 9);
  EXPECT_NE(read_all(path, 1000).error().find("damaged"), std::string::npos);
}

TEST_F(ByteStreams, WhatPrecedesTheDamageIsRead) {
  const std::string path = gzip_file(std::string(100, 'a') + std::string(100, 'b'));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 9);
  auto stream = ByteStream::open(path);
  std::string text(1000, '\0');
  const auto got = stream->read(text);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(text.substr(0, 100), std::string(100, 'a'));
  EXPECT_NE(stream->read(text).error().find("the file ends early"), std::string::npos);
}

// Ten digits a line, of which a reader takes a few at a time.
TEST_F(ByteStreams, AllThatPrecedesAnEarlyEndIsRead) {
  std::string content;
  for (int i = 0; i < 20'000; ++i) content += fmt::format("{:010}\n", i * 7'919 % 1'000'003);
  const std::string path = gzip_file(content);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  auto stream = ByteStream::open(path);
  std::string text, block(1000, '\0');
  auto got = stream->read(block);
  for (; got && *got > 0; got = stream->read(block)) text += block.substr(0, *got);
  EXPECT_FALSE(got.has_value());
  EXPECT_GT(text.size(), content.size() / 3);
  EXPECT_EQ(text, content.substr(0, text.size()));
}

TEST_F(ByteStreams, NamesWhatIsNoFile) {
  EXPECT_EQ(read_all("no/such/file", 10).error(), "no such file");
  EXPECT_EQ(read_all(testing::TempDir(), 10).error(), "it is a directory");
}

}  // namespace
}  // namespace ringwright::traces::byte_stream_test
