// The families of measurements: one file each, one row in the table of suite.cu.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "table.cuh"

namespace ringwright::gpu {

// Amount of measurements: the default set finishes within eight minutes on one H200; quick takes a few samples of
// everything.
enum class Extent { kQuick, kDefault, kFull };

struct Suite {
  std::string folder;                     // where tables go
  std::vector<std::string> header_lines;  // of every table: the device, versions, the method
  Extent extent = Extent::kDefault;
  std::function<bool()> time_is_up;  // asked before each measurement
  std::function<void(const std::string&)> progress;
  std::function<void(const std::string&)> trouble;  // an error that does not end the run; it then exits with 1

  // The table of kernel times, in the format of docs/kernel-tables.md.
  [[nodiscard]] Table kernel_table(const std::string& name) const;
  [[nodiscard]] Table table(const std::string& name, const std::vector<std::string>& keys,
                            const std::vector<std::string>& values) const;
};

struct Family {
  const char* name;
  const char* help;
  void (*measure)(const Suite& suite);
};
[[nodiscard]] const std::vector<Family>& families();

// One kernel, in the columns of the kernel table.
struct KernelRow {
  const char* family = "";
  std::string op;
  const char* dtype = "bf16";
  const char* layout = "";
  long long m = 0, n = 0, k = 0;
  long long batch = 1;
  double flops = 0.0;
  double bytes = 0.0;
};
// Measures unless the table has it; false when time is up.
bool measure_kernel(const Suite& suite, Table& table, const KernelRow& kernel, const Launch& launch,
                    const TimingRules& rules = {});
// Whether it is still to be measured, so that buffers are not made in vain.
[[nodiscard]] bool is_missing(const Table& table, const KernelRow& kernel, const TimingRules& rules = {});

}  // namespace ringwright::gpu
