// measure_gpu: measures a GPU's kernels, memory, copies, launches and building blocks of collectives, into CSV tables.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "device.cuh"
#include "suite.cuh"

namespace ringwright::gpu {
namespace {

struct Options {
  std::string folder = "tables";
  std::string gpu_key;
  std::vector<std::string> families;  // empty: all
  Extent extent = Extent::kDefault;
  double budget_seconds = 0.0;  // 0: no limit
};

void print_help() {
  std::printf(
      "measure_gpu [--out DIR] [--families a,b,...] [--quick | --full] [--budget SECONDS] [--gpu KEY] [--list]\n\n"
      "Writes one CSV table per family into DIR (default: tables). Run it again to continue after an interruption:\n"
      "rows that a table holds are not measured again. --budget ends it in time; --gpu names the shipped GPU for the "
      "tables.\n\n"
      "Families:\n");
  for (const Family& family : families()) std::printf("  %-14s %s\n", family.name, family.help);
}

[[noreturn]] void refuse(const std::string& message) {
  std::fprintf(stderr, "error: %s (see --help)\n", message.c_str());
  std::exit(2);
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) words.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

void check_families(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    bool known = false;
    for (const Family& family : families()) known = known || name == family.name;
    if (!known) refuse("there is no family '" + name + "'");
  }
}

Options read_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= count) refuse("'" + word + "' needs a value");
      return arguments[++i];
    };
    if (word == "--help" || word == "-h" || word == "--list") {
      print_help();
      std::exit(0);
    } else if (word == "--out") {
      options.folder = value();
    } else if (word == "--families") {
      options.families = split(value());
    } else if (word == "--quick") {
      options.extent = Extent::kQuick;
    } else if (word == "--full") {
      options.extent = Extent::kFull;
    } else if (word == "--gpu") {
      options.gpu_key = value();
    } else if (word == "--budget") {
      options.budget_seconds = std::atof(value().c_str());
      if (!(options.budget_seconds > 0.0)) refuse("--budget must be a number of seconds above 0");
    } else {
      refuse("unknown option '" + word + "'");
    }
  }
  check_families(options.families);
  return options;
}

bool is_chosen(const Options& options, const Family& family) {
  if (options.families.empty()) return true;
  for (const std::string& name : options.families) {
    if (name == family.name) return true;
  }
  return false;
}

int run(const Options& options) {
  using Clock = std::chrono::steady_clock;
  const auto started = Clock::now();
  const auto seconds = [started] { return std::chrono::duration<double>(Clock::now() - started).count(); };
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error) refuse("cannot make the folder '" + options.folder + "'");
  int measured = 0;
  int troubles = 0;
  Suite suite{.folder = options.folder,
              .header_lines = describe_device(options.gpu_key),
              .extent = options.extent,
              .time_is_up = [&] { return options.budget_seconds > 0.0 && seconds() > options.budget_seconds; },
              .progress =
                  [&](const std::string& what) {
                    std::fprintf(stderr, "%6.1f s  %4d  %s\n", seconds(), ++measured, what.c_str());
                  },
              .trouble =
                  [&](const std::string& what) {
                    std::fprintf(stderr, "%6.1f s  error: %s\n", seconds(), what.c_str());
                    ++troubles;
                  }};
  for (const Family& family : families()) {
    if (!is_chosen(options, family)) continue;
    std::fprintf(stderr, "%6.1f s  family %s: %s\n", seconds(), family.name, family.help);
    family.measure(suite);
  }
  const bool complete = !suite.time_is_up();
  std::fprintf(stderr, "%6.1f s  %d measurements in %s/%s\n", seconds(), measured, options.folder.c_str(),
               complete ? "" : "; the time is up, run again to continue");
  return troubles > 0 ? 1 : complete ? 0 : 4;
}

}  // namespace
}  // namespace ringwright::gpu

int main(int count, char** arguments) {
  return ringwright::gpu::run(ringwright::gpu::read_options(count, arguments));
}
