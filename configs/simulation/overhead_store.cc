#include "configs/simulation/overhead_store.h"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/sha256.h"
#include "core/base/source_hash.h"

namespace ringwright::configs {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "overheads-";
constexpr std::size_t kDigestDigits = 32;
constexpr std::size_t kCheckDigits = 8;
constexpr std::size_t kMostBytes = 4 << 20;  // some 80,000 times
constexpr std::chrono::hours kUnused{24 * 30};

fs::path file_in(const std::string& folder) {
  return fs::path(folder) / fmt::format("{}{}-{}", kPrefix, RINGWRIGHT_VERSION, source_hash());
}

std::string digest_of(std::string_view text) {
  return sha256(text).substr(0, kDigestDigits);
}

std::string line_of(const std::string& digest, Duration time) {
  const std::string entry = fmt::format("{} {} ", digest, time.count());
  return entry + sha256(entry).substr(0, kCheckDigits) + "\n";
}

// The time of a line without its end; none: it is damaged.
std::optional<Duration> time_in(std::string_view line) {
  if (line.size() < kDigestDigits + kCheckDigits + 3 || line[kDigestDigits] != ' ') return std::nullopt;
  const std::string_view entry = line.substr(0, line.size() - kCheckDigits);
  if (sha256(entry).substr(0, kCheckDigits) != line.substr(entry.size())) return std::nullopt;
  std::int64_t picoseconds = 0;
  const std::string_view number = entry.substr(kDigestDigits + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), picoseconds);
  if (error != std::errc()) return std::nullopt;
  return Duration(picoseconds);
}

void remove_unused(const std::string& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::error_code unknown;
    const auto written = entry.last_write_time(unknown);
    if (unknown || !entry.path().filename().string().starts_with(kPrefix)) continue;
    if (fs::file_time_type::clock::now() - written > kUnused) fs::remove(entry.path(), unknown);
  }
}

}  // namespace

void OverheadStore::read_once() {
  if (was_read_) return;
  was_read_ = true;
  std::ifstream file(file_in(folder_), std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  bytes_ = all.size();
  for (std::string_view rest = all; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    if (const auto time = time_in(line)) known_.emplace(line.substr(0, kDigestDigits), *time);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
}

std::optional<Duration> OverheadStore::find(std::string_view of) {
  if (folder_.empty()) return std::nullopt;
  const std::string digest = digest_of(of);
  const std::scoped_lock lock(mutex_);
  read_once();
  const auto known = known_.find(digest);
  return known == known_.end() ? std::nullopt : std::optional(known->second);
}

void OverheadStore::put(std::string_view of, Duration time) {
  if (folder_.empty()) return;
  const std::string digest = digest_of(of);
  const std::scoped_lock lock(mutex_);
  read_once();
  if (bytes_ > kMostBytes || !known_.emplace(digest, time).second) return;
  std::error_code error;
  if (bytes_ == 0) {
    fs::create_directories(folder_, error);
    remove_unused(folder_);
  }
  const std::string line = line_of(digest, time);
  std::FILE* const file = std::fopen(file_in(folder_).c_str(), "ab");
  if (file == nullptr) return;
  std::fwrite(line.data(), 1, line.size(), file);
  std::fclose(file);
  bytes_ += line.size();
}

std::size_t OverheadStore::size() {
  if (folder_.empty()) return 0;
  const std::scoped_lock lock(mutex_);
  read_once();
  return known_.size();
}

}  // namespace ringwright::configs
