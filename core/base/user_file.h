// Reads every file that a user names: regular files and pipes, with one size limit.
//
// A pipe (a FIFO, or `<(command)` of a shell) is read as long as data arrives; one that stays silent for kPipeSilence,
// or that nobody writes to, is an error, so that opening a file never waits forever. Directories, devices and sockets
// are not files.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include <tl/expected.hpp>

namespace ringwright {

// A log of 100,000 rows takes about 10 MiB; the largest file of an algorithm that MSCCL ships takes 3.
inline constexpr std::size_t kMostFileBytes = std::size_t{64} << 20U;
inline constexpr std::chrono::milliseconds kPipeSilence{10'000};

struct FileLimits {
  std::size_t bytes = kMostFileBytes;
  std::chrono::milliseconds silence = kPipeSilence;
};

// The whole content, or what is wrong, to print after the name: "no such file", "it is a directory", "it is larger than
// 64 MiB". Links are followed.
[[nodiscard]] tl::expected<std::string, std::string> read_user_file(const std::string& path,
                                                                    const FileLimits& limits = {});

}  // namespace ringwright
