#include "validation/nccl/measured_machine.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <initializer_list>
#include <optional>

#include <fmt/format.h>

#include "configs/scenario/catalogue.h"
#include "configs/scenario/scenario.h"
#include "core/base/text.h"
#include "validation/nccl/class_values.h"
#include "validation/nccl/machine_list.h"

namespace ringwright::validation {
namespace {

using namespace ringwright::literals;

struct GpuFamily {
  std::string_view word;  // in the log's name of the GPU, small letters
  std::string_view name;
  std::string_view node;
  int gpus = 8;  // of that node
  // NCCL's planning rate, as a share of the nominal rate of its NVLink or xGMI links (graph/topo.h: 20 of 25 GB/s a
  // lane until Ampere, 20.6 for Hopper, 40.1 of 50 for Blackwell; RCCL: 48 of 64 for MI300). Empty without such
  // links.
  std::string_view link_efficiency;
  std::string_view generation = "";
};

// The first that fits: longer names before those that they contain.
constexpr std::array kFamilies = {
    GpuFamily{"gh200", "gh200", "gh200-x4", 4, "82.4%", "hopper"},
    GpuFamily{"gb200", "gb200", "gb200-nvl72", 72, "80.2%", "blackwell"},
    GpuFamily{"b200", "b200", "dgx-b200", 8, "80.2%", "blackwell"},
    GpuFamily{"h200", "h200", "hgx-h200", 8, "82.4%", "hopper"},
    GpuFamily{"h100", "h100", "dgx-h100", 8, "82.4%", "hopper"},
    GpuFamily{"a100-pcie", "a100-pcie", "a100-pcie", 4, "", "ampere"},
    GpuFamily{"a100 pcie", "a100-pcie", "a100-pcie", 4, "", "ampere"},
    GpuFamily{"a100", "a100", "dgx-a100", 8, "80%", "ampere"},
    GpuFamily{"v100", "v100", "dgx1-v100", 8, "80%", "volta"},
    GpuFamily{"mi300x", "mi300x", "mi300x-8gpu", 8, "75%", "cdna3"},
    GpuFamily{"mi325x", "mi325x", "mi325x-8gpu", 8, "75%", "cdna3"},
    GpuFamily{"mi355x", "mi355x", "mi355x-8gpu", 8, "75%", "cdna4"},
};

// Boards of four GPUs without an NVSwitch.
constexpr std::array kBoardsOfFour = {GpuFamily{"a100", "a100", "a100-x4", 4, "80%", "ampere"},
                                      GpuFamily{"v100", "v100", "v100-x4", 4, "80%", "volta"}};

std::string small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

bool contains(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

std::optional<GpuFamily> family_of(const traces::CollectiveLog& log) {
  const std::string gpu = small_letters(log.gpu);
  std::optional<GpuFamily> found;
  for (const GpuFamily& family : kFamilies) {
    if (!found && contains(gpu, family.word)) found = family;
  }
  if (!found || log.gpus_per_node > 4 || contains(small_letters(log.fact("intra_fabric")), "nvswitch")) return found;
  if (log.gpus_per_node < 4) return found;
  for (const GpuFamily& board : kBoardsOfFour) {
    if (board.name == found->name) return board;
  }
  return found;
}

std::optional<int> parse_number_of(std::string_view text) {
  int number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest == text.data()) return std::nullopt;
  return number;
}

// The number before `unit`: 4 of "4 x HDR 200 Gb/s" for "x ", 200 for "Gb/s".
std::optional<int> number_before(std::string_view text, std::string_view unit) {
  const std::size_t at = text.find(unit);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t end = at;
  while (end > 0 && text[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0) --begin;
  int number = 0;
  const auto [rest, error] = std::from_chars(text.data() + begin, text.data() + end, number);
  if (error != std::errc() || rest != text.data() + end || number <= 0) return std::nullopt;
  return number;
}

// A rack that is one NVLink domain: trays are not hosts of their own.
void join_trays(MeasuredMachine& machine, const traces::CollectiveLog& log, int gpus_of_rack) {
  const int racks = (log.ranks + gpus_of_rack - 1) / gpus_of_rack;
  machine.hosts = racks;
  machine.gpus_per_host = log.ranks / racks;
}

void take_nics(MeasuredMachine& machine, const traces::CollectiveLog& log, const GpuFamily& family) {
  const std::string& nic = log.fact("nic");
  const auto per_host = number_before(log.fact("network_gbps_per_node") + " Gb/s", " Gb/s");
  auto count = number_before(nic, " x ");
  auto speed = number_before(nic, "Gb/s");
  if (!speed && per_host && count) speed = *per_host / *count;
  if (!count && per_host && speed) count = *per_host / *speed;
  if (!count || !speed) {
    machine.notes.push_back("the log does not name its NICs; those of the node " + machine.node + " are assumed");
    return;
  }
  const int gpus = std::min(family.gpus, std::max(log.gpus_per_node, 1));
  if (*count > gpus && *count % gpus == 0) {
    // Two ports a GPU are those of one NIC of twice the speed.
    machine.overrides.push_back(fmt::format("cluster.node.nic.ports={}", *count / gpus));
    speed = *speed * (*count / gpus);
    count = gpus;
  }
  machine.overrides.push_back(fmt::format("cluster.node.nic.count={}", *count));
  machine.overrides.push_back(fmt::format("cluster.node.nic.bandwidth={}Gbps", *speed));
}

// The library's version, and those of its variables that change its choices.
void take_library(MeasuredMachine& machine, const traces::CollectiveLog& log) {
  if (log.fact("library").starts_with("RCCL") || contains(small_letters(log.gpu), "mi3")) return;
  if (!log.version_of_library.empty())
    machine.overrides.push_back("comm.nccl_version=\"" + log.version_of_library + "\"");
  constexpr std::array<std::string_view, 10> kActing = {
      "NCCL_ALGO",     "NCCL_PROTO",       "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS", "NCCL_MIN_CTAS",
      "NCCL_MAX_CTAS", "NCCL_NVLS_ENABLE", "NCCL_NTHREADS",      "NCCL_PXN_DISABLE",   "NCCL_CROSS_NIC"};
  const std::string env = log.fact("env");
  for (std::size_t at = 0; at < env.size();) {
    const std::size_t end = std::min(env.find(';', at), env.size());
    std::string_view entry = std::string_view(env).substr(at, end - at);
    // Words before the variable are those of the log's author.
    const std::size_t space = entry.substr(0, entry.find('=')).find_last_of(' ');
    if (space != std::string_view::npos) entry.remove_prefix(space + 1);
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos && std::ranges::find(kActing, entry.substr(0, equals)) != kActing.end()) {
      machine.overrides.push_back(fmt::format("comm.env.{}=\"{}\"", entry.substr(0, equals), entry.substr(equals + 1)));
    }
    at = end + 1;
  }
}

// Knowledge of the machine that the log was taken on. A profile of another machine is never used: the values common to
// machines of one GPU are those of the class, and networks of one kind differ by more.
void take_listed(MeasuredMachine& machine, const traces::CollectiveLog& log, const ListedMachine& listed,
                 UseProfile use) {
  if (listed.gpus_per_process && !machine.gpus_per_process)
    machine.gpus_per_process = std::min(*listed.gpus_per_process, machine.gpus_per_host);
  machine.overrides.insert(machine.overrides.end(), listed.settings.begin(), listed.settings.end());
  const auto names = preset_names(configs::load_options({}), "profiles");
  if (use == UseProfile::kNo || std::ranges::find(names, listed.name) == names.end()) return;
  machine.profile = listed.name;
  machine.fitted_on = is_fitted_on(listed, log);
}

// PyTorch's time in a call that is timed alone: Python, c10d, events between streams. On one host of eight H200
// all-reduces through PyTorch took 36.6, 38.0, 39.1, 41.7, 43.5 and 50.9 us (8 B to 1 MiB) one at a time on an idle
// device and 15.2, 17.9, 18.8, 20.9, 21.4 and 27.7 queued behind others: 21.1 us more in the median (20.1 to 23.2),
// and nccl-tests agrees with the queued ones within 1 us (measured: stas00/ml-engineering,
// network/benchmarks/README.md, 2026).
constexpr Duration kPyTorchCall = 21_us;

Result<CallTiming> timing_of(const traces::CollectiveLog& log, const ListedMachine* listed) {
  const std::string told = log.fact("timing");
  if (told.empty()) return listed != nullptr ? listed->timing : CallTiming::kInARow;
  if (const auto timing = parse_timing(told)) return *timing;
  return tl::unexpected(failure("E243", fmt::format("'{}' is no valid timing of calls", told), {.file = log.file},
                                "write '# timing: in a row' or '# timing: alone PyTorch', or leave the line out"));
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// Versions before 2.14 set up every channel separately: the host writes its work, the channel's block fetches it from
// host memory. Logs of one host with A100 that do not state the version are of that time; those of two hosts (OCI,
// AKS) show no such cost.
bool works_by_channel(const traces::CollectiveLog& log, const GpuFamily& family) {
  const std::string& version = log.version_of_library;
  int major = 0, minor = 0;
  const char* const last = version.data() + version.size();
  const auto [dot, wrong] = std::from_chars(version.data(), last, major);
  if (wrong == std::errc() && dot != last && *dot == '.') {
    const auto [end, error] = std::from_chars(dot + 1, last, minor);
    if (error == std::errc()) return major == 2 && minor < 14;
  }
  return log.nodes <= 1 && is_one_of(family.name, {"a100", "a100-pcie"});
}

// For machines of which nothing else is known.
Result<std::vector<std::string>> class_overrides(const MeasuredMachine& machine, const traces::CollectiveLog& log,
                                                 const GpuFamily& family, const std::string& classes) {
  const auto values = read_class_values(classes);
  if (!values) return tl::unexpected(values.error());
  const bool by_channel = works_by_channel(log, family);
  return overrides_of({.generation = std::string(family.generation),
                       .network = machine.network,
                       .link_efficiency = std::string(family.link_efficiency),
                       .work_by_channel = by_channel,
                       .slow_device_work = by_channel && log.version_of_library.empty()},
                      *values);
}

// nccl-tests' README starts one process for all GPUs of a single host (-g 8), and one for each GPU of several hosts
// (mpirun). Logs of one host with NVIDIA's GPUs that do not state it are assumed to follow it: this is right for eight
// of the thirteen shipped machines with such logs.
void assume_processes(MeasuredMachine& machine, const GpuFamily& family) {
  if (machine.gpus_per_process || machine.hosts > 1 || machine.gpus_per_host < 2 ||
      family.generation.starts_with("cdna"))
    return;
  machine.gpus_per_process = machine.gpus_per_host;
  machine.notes.push_back(
      fmt::format("the log does not state how many GPUs a thread drives: all {} are assumed", machine.gpus_per_host));
}

}  // namespace

std::string network_class(std::string_view nic) {
  const std::string text = small_letters(nic);
  struct Word {
    std::string_view word;
    std::string_view network;
  };
  constexpr std::array kWords = {
      Word{"none", "none"},      Word{"slingshot", "slingshot"},   Word{"efa", "efa"},        Word{"tcp", "tcp"},
      Word{"roce", "roce"},      Word{"infiniband", "infiniband"}, Word{"hdr", "infiniband"}, Word{"ndr", "infiniband"},
      Word{"edr", "infiniband"}, Word{"connectx", "infiniband"}};
  for (const Word& entry : kWords) {
    if (contains(text, entry.word)) return std::string(entry.network);
  }
  return "unknown";
}

Result<MeasuredMachine> machine_of(const traces::CollectiveLog& log, UseProfile use, const std::string& classes) {
  const auto refuse = [&](std::string message) {
    return tl::unexpected(failure("E240", std::move(message), {.file = log.file},
                                  "describe the machine in a file and name it with --cluster"));
  };
  const auto family = family_of(log);
  if (!family) return refuse(fmt::format("the GPU '{}' of '{}' is none of the shipped nodes'", log.gpu, log.file));
  if (log.ranks < 2) return refuse(fmt::format("'{}' does not state the number of ranks", log.file));
  MeasuredMachine machine{.node = std::string(family->node), .network = network_class(log.fact("nic"))};
  machine.hosts = std::max(log.nodes, 1);
  machine.gpus_per_host = log.ranks / machine.hosts;
  if (family->name == "gb200") {
    join_trays(machine, log, family->gpus);
  } else if (machine.gpus_per_host > family->gpus) {
    return refuse(fmt::format("'{}' has {} GPUs a host and the node {} has {}", log.file, machine.gpus_per_host,
                              machine.node, family->gpus));
  }
  if (machine.hosts == 1) {
    machine.network = "none";
  } else if (family->name != "gb200") {
    take_nics(machine, log, *family);
  }
  if (family->name == "a100-pcie") {
    machine.overrides.push_back(fmt::format("cluster.node.gpus={}", machine.gpus_per_host));
  }
  if (const auto told = parse_number_of(log.fact("gpus_per_process"))) machine.gpus_per_process = std::max(*told, 1);
  take_library(machine, log);
  const auto machines = read_machines();
  if (!machines) return tl::unexpected(machines.error());
  const ListedMachine* const listed = find_machine(*machines, log, family->name);
  const auto timing = timing_of(log, listed);
  if (!timing) return tl::unexpected(timing.error());
  if (*timing == CallTiming::kAlonePyTorch) machine.alone = kPyTorchCall;
  if (listed != nullptr) take_listed(machine, log, *listed, use);
  assume_processes(machine, *family);
  if (!machine.profile.empty()) return machine;
  auto overrides = class_overrides(machine, log, *family, classes);
  if (!overrides) return tl::unexpected(overrides.error());
  machine.overrides.insert(machine.overrides.begin(), overrides->begin(), overrides->end());
  return machine;
}

std::string_view link_efficiency_of(std::string_view generation) {
  const auto* const family = std::ranges::find_if(kFamilies, [&](const GpuFamily& known) {
    return known.generation == generation && !known.link_efficiency.empty();
  });
  return family == kFamilies.end() ? std::string_view() : family->link_efficiency;
}

}  // namespace ringwright::validation
