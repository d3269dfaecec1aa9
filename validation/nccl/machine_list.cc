#include "validation/nccl/machine_list.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "traces/input/log_text.h"
#include "validation/tables/csv_table.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation {
namespace {

constexpr std::array<std::string_view, 6> kMachineListColumns = {"machine",          "sources", "gpu",
                                                                 "gpus_per_process", "timing",  "fitted"};

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) found.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return found;
}

std::vector<std::string> settings_of(std::string_view text, const Place& place, Diagnostics& problems) {
  std::vector<std::string> settings = words(text);
  for (const std::string& setting : settings) {
    if (setting.find('=') != std::string::npos) continue;
    problems.add({.code = "E242",
                  .place = place,
                  .message = fmt::format("'{}' is no setting", setting),
                  .hint = "write PATH=VALUE"});
  }
  return settings;
}

Result<std::vector<ListedMachine>> machines_of(const CsvTable& table) {
  const auto at = columns_of(table, kMachineListColumns, "E242");
  if (!at) return tl::unexpected(at.error());
  Diagnostics problems;
  const auto settings = table.find_column("settings");
  const auto nic = table.find_column("nic");
  std::vector<ListedMachine> machines;
  for (const CsvRow& row : table.rows) {
    ListedMachine machine{.name = row.cells[(*at)[0]].text, .sources = words(row.cells[(*at)[1]].text),
                          .gpu = row.cells[(*at)[2]].text, .fitted = words(row.cells[(*at)[5]].text)};
    if (machine.name.empty() || machine.sources.empty() || machine.gpu.empty()) {
      problems.add({.code = "E242",
                    .place = {.file = table.file, .line = row.line, .column = 1},
                    .message = fmt::format("'{}' names no machine with a source and a GPU", row.raw)});
    }
    if (const std::string& gpus = row.cells[(*at)[3]].text; !gpus.empty()) {
      machine.gpus_per_process = traces::parse_number<int>(gpus);
      if (!machine.gpus_per_process || *machine.gpus_per_process < 1) {
        problems.add({.code = "E242", .place = {.file = table.file, .line = row.line, .column = 1},
                      .message = fmt::format("'{}' is no number of GPUs that a process drives", gpus),
                      .hint = "write a number from 1 on, or nothing where it is not known"});
      }
    }
    if (const std::string& timing = row.cells[(*at)[4]].text; !timing.empty()) {
      const auto parsed = parse_timing(timing);
      machine.timing = parsed.value_or(CallTiming::kInARow);
      if (!parsed) {
        problems.add({.code = "E242",
                      .place = {.file = table.file, .line = row.line, .column = 1},
                      .message = fmt::format("'{}' is no valid timing of calls", timing),
                      .hint = "write 'in a row', 'alone PyTorch', or nothing for calls in a row"});
      }
    }
    if (settings) {
      const Place place{.file = table.file, .line = row.line, .column = 1};
      machine.settings = settings_of(row.cells[*settings].text, place, problems);
    }
    if (nic) machine.nic = row.cells[*nic].text;
    machines.push_back(std::move(machine));
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return machines;
}

}  // namespace

std::optional<CallTiming> parse_timing(std::string_view text) {
  if (text == "in a row") return CallTiming::kInARow;
  if (text == "alone PyTorch") return CallTiming::kAlonePyTorch;
  return std::nullopt;
}

Result<std::vector<ListedMachine>> read_machines() {
  const auto table = read_csv(shipped_folder("machines.csv"));
  if (!table) return tl::unexpected(table.error());
  return machines_of(*table);
}

Result<std::vector<ListedMachine>> parse_machines(const std::string& name, std::string_view text) {
  const auto table = parse_csv(name, text);
  if (!table) return tl::unexpected(table.error());
  return machines_of(*table);
}

namespace {

bool has_nics_of(const ListedMachine& machine, const traces::CollectiveLog& log) {
  if (machine.nic.empty() || is_fitted_on(machine, log)) return true;
  return log.nodes > 1 && log.fact("nic").find(machine.nic) != std::string::npos;
}

}  // namespace

const ListedMachine* find_machine(const std::vector<ListedMachine>& machines, const traces::CollectiveLog& log,
                                  std::string_view gpu) {
  const std::string source = log.fact("source");
  const auto found = std::ranges::find_if(machines, [&](const ListedMachine& machine) {
    return machine.gpu == gpu && has_nics_of(machine, log) &&
           std::ranges::any_of(machine.sources,
                               [&](const std::string& part) { return source.find(part) != std::string::npos; });
  });
  return found == machines.end() ? nullptr : &*found;
}

bool is_fitted_on(const ListedMachine& machine, const traces::CollectiveLog& log) {
  const std::string stem = std::filesystem::path(log.file).stem().string();
  return std::ranges::find(machine.fitted, stem) != machine.fitted.end();
}

}  // namespace ringwright::validation
