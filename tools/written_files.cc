#include "tools/written_files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace ringwright::tools {
namespace {

namespace fs = std::filesystem;

constexpr int kMostAttempts = 1000;

std::string last_error() {
  return std::strerror(errno);
}

// Closes a file descriptor at the end of its lifetime.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int get() const { return number_; }
  // Some file systems report a failed write only here.
  [[nodiscard]] bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(file, text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

// A new file in the folder of its target, removed unless it replaces the target.
class StagedFile {
 public:
  // `target` is no symbolic link, and is a regular file if it exists.
  explicit StagedFile(fs::path target) : target_(std::move(target)) {}
  StagedFile(StagedFile&& other) noexcept
      : target_(std::move(other.target_)), temporary_(std::exchange(other.temporary_, {})) {}
  StagedFile& operator=(StagedFile&&) = delete;
  ~StagedFile() {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  [[nodiscard]] std::string write(std::string_view text) {
    Descriptor file(open_new());
    if (file.get() < 0) return last_error();
    struct stat before = {};
    const bool keeps_mode = ::stat(target_.c_str(), &before) == 0;
    if (!write_all(file.get(), text)) return last_error();
    if (keeps_mode && ::fchmod(file.get(), before.st_mode & 07777U) != 0) return last_error();
    if (::fsync(file.get()) != 0 || !file.close()) return last_error();
    return {};
  }

  [[nodiscard]] std::string commit() {
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) return last_error();
    temporary_.clear();
    return {};
  }

 private:
  [[nodiscard]] int open_new() {
    for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
      const fs::path name =
          target_.parent_path() / fmt::format(".{}.{}.{}.tmp", target_.filename().string(), ::getpid(), attempt);
      const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file >= 0) temporary_ = name;
      if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
  }

  fs::path target_;
  fs::path temporary_;
};

// The target of a symbolic link, so that the link stays.
fs::path followed(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::is_symlink(path, error) ? fs::weakly_canonical(path, error) : fs::path(path);
  return error ? fs::path(path) : target;
}

std::string write_directly(const fs::path& path, std::string_view text) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0 || !write_all(file.get(), text) || !file.close()) return last_error();
  return {};
}

// Flushes the folder's entries to the disk, too.
void flush_folder(const Descriptor& folder) {
  if (folder.get() >= 0) static_cast<void>(::fsync(folder.get()));
}

Descriptor open_folder(const fs::path& folder) {
  return Descriptor(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace

std::string write_file(const std::string& path, std::string_view text) {
  const fs::path target = followed(path);
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (fs::is_directory(status)) return "it is a directory";
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_directly(target, text);
  StagedFile staged(target);
  std::string problem = staged.write(text);
  if (problem.empty()) problem = staged.commit();
  if (problem.empty()) flush_folder(open_folder(target.parent_path()));
  return problem;
}

std::string write_files(const std::string& folder, std::span<const FileContent> files) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return error.message();
  std::vector<StagedFile> staged;
  for (const FileContent& file : files) {
    const fs::path target = followed((fs::path(folder) / file.name).string());
    if (fs::is_directory(target, error)) return fmt::format("{} is a directory", file.name);
    staged.emplace_back(target);
    if (std::string problem = staged.back().write(file.text); !problem.empty()) return problem;
  }
  const Descriptor lock = open_folder(folder);
  // Without locks (some network file systems) each single file is still complete.
  if (lock.get() >= 0) static_cast<void>(::flock(lock.get(), LOCK_EX));
  for (StagedFile& file : staged) {
    if (std::string problem = file.commit(); !problem.empty()) return problem;
  }
  flush_folder(lock);
  return {};
}

}  // namespace ringwright::tools
