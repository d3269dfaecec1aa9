#include "validation/nccl/class_values.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "validation/fit/platform_constants.h"
#include "validation/tables/csv_table.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation {
namespace {

// Of a NIC: 24 of 25 GB/s, 48 of 50 (NVIDIA/nccl-tests, issue 119; nccl, issue 212).
constexpr std::string_view kNicEfficiency = "96%";

constexpr std::string_view kOfChannels = "comm.costs.launch_channel";

Result<std::vector<ClassValue>> values_of(const CsvTable& table) {
  Diagnostics problems;
  std::array<std::size_t, 3> at{};
  constexpr std::array<std::string_view, 3> kColumns = {"class", "constant", "value"};
  for (std::size_t c = 0; c < kColumns.size(); ++c) {
    const auto column = table.find_column(kColumns[c]);
    if (column) at[c] = *column;
    if (!column)
      problems.add({.code = "E244",
                    .place = {.file = table.file},
                    .message = fmt::format("'{}' has no column '{}'", table.file, kColumns[c])});
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  std::vector<ClassValue> values;
  for (const CsvRow& row : table.rows) {
    ClassValue value{.name = row.cells[at[0]].text, .path = row.cells[at[1]].text, .value = row.cells[at[2]].text};
    const bool known = std::ranges::any_of(platform_constants(), [&](const auto& c) { return c.path == value.path; });
    if (!known) {
      problems.add({.code = "E244",
                    .place = {.file = table.file, .line = row.line, .column = row.cells[at[1]].column},
                    .message = fmt::format("'{}' is no constant of a platform", value.path),
                    .hint = "`ringwright calibrate nccl` lists them"});
    }
    if (value.name.empty() || value.value.empty()) {
      problems.add({.code = "E244",
                    .place = {.file = table.file, .line = row.line, .column = 1},
                    .message = fmt::format("'{}' names no class, constant and value", row.raw)});
    }
    values.push_back(std::move(value));
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return values;
}

// The cost of each further channel where the library sets up every channel separately. On the device, calibrated on
// machines of the class: 1.5 and 1.8 us with NCCL 2.8 (ABCI's V100 and A100), 1.8 to 2.6 us on A100 whose logs do not
// state the version, next to nothing with 2.20 and later. On the host 0.2 us for each GPU: with eight A100 in one
// process all five operations, all-reduce to reduce, take 34 us with one channel and 1.6 us more with each further one
// (SuperBench, 64 KiB to 1 MiB).
void add_work_by_channel(const MachineClass& machine, std::vector<std::string>& overrides) {
  if (!machine.work_by_channel) return;
  overrides.push_back(fmt::format("{}={}", kOfChannels, machine.slow_device_work ? "1.9us" : "1.6us"));
  overrides.emplace_back("comm.costs.host.channel=0.2us");
}

// libfabric's provider for Slingshot matches in software (FI_CXI_RX_MATCH_MODE). Up to FI_CXI_RDZV_THRESHOLD and
// FI_CXI_RDZV_GET_MIN, 16384 and 2049 bytes unless they are set, messages arrive in its own memory, and are copied to
// the GPU; larger ones it fetches. From 4 KiB on that copy is a call of the driver, and LL takes 8 us more a crossing
// on 2 to 32 hosts of Alps; the 2 us for fetched messages are those of its rings. Its NIC sends a process's messages
// one after another (of trees with chunks of 512 KiB two at a time). All calibrated.
void add_rules_of_networks(const MachineClass& machine, std::vector<std::string>& overrides) {
  if (machine.network == "tcp") {
    // A message crosses the sockets of both hosts: some 30 us in one direction between hosts of a cloud (assumed).
    overrides.insert(overrides.end(), {"comm.costs.network.post=20us", "comm.costs.network.proxy=10us"});
  }
  if (machine.network != "slingshot") return;
  overrides.insert(overrides.end(), {"comm.costs.network.eager=18433B", "comm.costs.network.rendezvous=2us",
                                     "comm.costs.network.at_once=2", "comm.costs.network.matched.own_copy=4KiB",
                                     "comm.costs.network.matched.copy_call=8us"});
}

}  // namespace

Result<std::vector<ClassValue>> read_class_values(const std::string& which) {
  if (which == kNoClasses) return std::vector<ClassValue>();
  const auto table = read_csv(which == kShippedClasses ? shipped_folder("class_values.csv") : which);
  if (!table) return tl::unexpected(table.error());
  return values_of(*table);
}

Result<std::vector<ClassValue>> parse_class_values(const std::string& name, std::string_view text) {
  const auto table = parse_csv(name, text);
  if (!table) return tl::unexpected(table.error());
  return values_of(*table);
}

std::vector<std::string> overrides_of(const MachineClass& machine, const std::vector<ClassValue>& values) {
  std::vector<std::string> overrides;
  if (!machine.link_efficiency.empty()) {
    overrides.push_back(fmt::format("cluster.node.nvlink.efficiency={}", machine.link_efficiency));
  }
  if (machine.network != "none") overrides.push_back(fmt::format("cluster.node.nic.efficiency={}", kNicEfficiency));
  add_work_by_channel(machine, overrides);
  add_rules_of_networks(machine, overrides);
  for (const ClassValue& value : values) {
    if (value.name != machine.generation && value.name != machine.network) continue;
    // A generation's logs are of one time: the cost of its channels is that of the library of that time.
    if (value.path == kOfChannels && !machine.work_by_channel &&
        (machine.generation == "volta" || machine.generation == "ampere"))
      continue;
    if (value.path == "cluster.node.nvlink.efficiency" && machine.link_efficiency.empty()) continue;
    overrides.push_back(fmt::format("{}={}", value.path, value.value));
  }
  return overrides;
}

}  // namespace ringwright::validation
