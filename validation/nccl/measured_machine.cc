#include "validation/nccl/measured_machine.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "configs/scenario/catalogue.h"
#include "configs/scenario/scenario.h"
#include "core/base/text.h"
#include "validation/nccl/machine_list.h"

namespace ringwright::validation {
namespace {

using namespace ringwright::literals;

struct GpuFamily {
  std::string_view word;  // in the log's name of the GPU, small letters
  std::string_view name;
  std::string_view node;
  int gpus = 8;  // of that node
};

// The first that fits: longer names before those that they contain.
constexpr std::array kFamilies = {GpuFamily{"gh200", "gh200", "gh200-x4", 4},
                                  GpuFamily{"gb200", "gb200", "gb200-nvl72", 72},
                                  GpuFamily{"b200", "b200", "dgx-b200"},
                                  GpuFamily{"h200", "h200", "hgx-h200"},
                                  GpuFamily{"h100", "h100", "dgx-h100"},
                                  GpuFamily{"a100-pcie", "a100-pcie", "a100-pcie", 4},
                                  GpuFamily{"a100 pcie", "a100-pcie", "a100-pcie", 4},
                                  GpuFamily{"a100", "a100", "dgx-a100"},
                                  GpuFamily{"v100", "v100", "dgx1-v100"},
                                  GpuFamily{"mi300x", "mi300x", "mi300x-8gpu"},
                                  GpuFamily{"mi325x", "mi325x", "mi325x-8gpu"},
                                  GpuFamily{"mi355x", "mi355x", "mi355x-8gpu"}};

// Boards of four GPUs without an NVSwitch.
constexpr std::array kBoardsOfFour = {GpuFamily{"a100", "a100", "a100-x4", 4}, GpuFamily{"v100", "v100", "v100-x4", 4},
                                      GpuFamily{"h100", "h100", "hgx-h100-x4", 4}};

std::string small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

bool contains(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

// "NVLink3 + NVSwitch", but not "6 links per pair, no NVSwitch/NVLS".
bool has_nvswitch(std::string_view fabric) {
  const std::string text = small_letters(fabric);
  const std::size_t at = text.find("nvswitch");
  if (at == std::string::npos) return false;
  const std::string_view before = std::string_view(text).substr(0, at);
  return !before.ends_with("no ") && !before.ends_with("without ") && !before.ends_with("without an ");
}

std::optional<GpuFamily> family_of(const traces::CollectiveLog& log) {
  const std::string gpu = small_letters(log.gpu);
  std::optional<GpuFamily> found;
  for (const GpuFamily& family : kFamilies) {
    if (!found && contains(gpu, family.word)) found = family;
  }
  if (!found || log.gpus_per_node > 4 || has_nvswitch(log.fact("intra_fabric"))) return found;
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
  // A log describes a tray where the node is a rack of them.
  const int gpus = std::min(family.gpus, std::max(log.gpus_per_node, 1));
  const int trays = family.name == "gb200" ? std::max(family.gpus / gpus, 1) : 1;
  if (*count > gpus && *count % gpus == 0) {
    // Two ports a GPU are those of one NIC of twice the speed.
    machine.overrides.push_back(fmt::format("cluster.node.nic.ports={}", *count / gpus));
    speed = *speed * (*count / gpus);
    count = gpus;
  }
  machine.overrides.push_back(fmt::format("cluster.node.nic.count={}", *count * trays));
  machine.overrides.push_back(fmt::format("cluster.node.nic.bandwidth={}Gbps", *speed));
}

void take_transport(MeasuredMachine& machine) {
  if (machine.network == "unknown" || machine.network == "none") return;
  machine.overrides.push_back("cluster.node.nic.transport=" + machine.network);
}

// The library's version, and those of its variables that change its choices.
void take_library(MeasuredMachine& machine, const traces::CollectiveLog& log) {
  if (log.fact("library").starts_with("RCCL") || contains(small_letters(log.gpu), "mi3")) return;
  if (!log.version_of_library.empty())
    machine.overrides.push_back("comm.nccl_version=\"" + log.version_of_library + "\"");
  constexpr std::array<std::string_view, 15> kActing = {"FI_CXI_RX_MATCH_MODE",
                                                        "FI_HMEM_CUDA_USE_GDRCOPY",
                                                        "FI_CXI_SAFE_DEVMEM_COPY_THRESHOLD",
                                                        "FI_CXI_RDZV_THRESHOLD",
                                                        "FI_CXI_RDZV_GET_MIN",
                                                        "NCCL_ALGO",
                                                        "NCCL_PROTO",
                                                        "NCCL_MIN_NCHANNELS",
                                                        "NCCL_MAX_NCHANNELS",
                                                        "NCCL_MIN_CTAS",
                                                        "NCCL_MAX_CTAS",
                                                        "NCCL_NVLS_ENABLE",
                                                        "NCCL_NTHREADS",
                                                        "NCCL_PXN_DISABLE",
                                                        "NCCL_CROSS_NIC"};
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
  machine.listed = listed.name;
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
  const std::string stated = log.fact("timing");
  if (stated.empty()) return listed != nullptr ? listed->timing : CallTiming::kInARow;
  if (const auto timing = parse_timing(stated)) return *timing;
  return tl::unexpected(failure("E243", fmt::format("'{}' is no valid timing of calls", stated), {.file = log.file},
                                "write '# timing: in a row' or '# timing: alone PyTorch', or leave the line out"));
}

// Logs of one host with A100 that do not state the version are of the years before NCCL 2.14, which set up every
// channel separately, and of machines where that took 1.8 to 2.6 us; those of two hosts (OCI, AKS) show no such cost.
void assume_old_library(MeasuredMachine& machine, const traces::CollectiveLog& log, const GpuFamily& family) {
  const bool stated =
      !log.version_of_library.empty() && std::isdigit(static_cast<unsigned char>(log.version_of_library.front())) != 0;
  if (stated || log.nodes > 1 || !family.name.starts_with("a100")) return;
  machine.assumed = {"comm.costs.launch_channel=1.9us", "comm.costs.host.channel=0.2us", "comm.costs.host.peer=0.8us"};
  machine.notes.emplace_back("the log does not state the library's version: one before 2.14 is assumed");
}

// nccl-tests' README starts one process for all GPUs of a single host (-g 8), and one for each GPU of several hosts
// (mpirun). Logs of one host with NVIDIA's GPUs that do not state it are assumed to follow it: this is right for eight
// of the thirteen shipped machines with such logs.
void assume_processes(MeasuredMachine& machine, const traces::CollectiveLog& log, const GpuFamily& family) {
  if (machine.gpus_per_process || log.nodes > 1 || machine.gpus_per_host < 2 || family.name.starts_with("mi")) return;
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
  if (text.starts_with("none")) return "none";
  // Libraries first: they are named in addition to the NICs below them.
  constexpr std::array kLibraries = {
      Word{"tcpxo", "fastrak"},       Word{"fastrak", "fastrak"}, Word{"fastrack", "fastrak"},
      Word{"tcpx", "tcpx"},           Word{"gib)", "gib"},        Word{"gib ", "gib"},
      Word{"slingshot", "slingshot"}, Word{"efa", "efa"},         Word{"tcp", "tcp"}};
  for (const Word& entry : kLibraries) {
    if (contains(text + " ", entry.word)) return std::string(entry.network);
  }
  constexpr std::array kNics = {Word{"roce", "roce"}, Word{"infiniband", "infiniband"}, Word{"hdr", "infiniband"},
                                Word{"ndr", "infiniband"}, Word{"edr", "infiniband"}};
  // The first one named: others are for storage.
  std::size_t first = std::string::npos;
  std::string_view network;
  for (const Word& entry : kNics) {
    if (const std::size_t at = text.find(entry.word); at < first) {
      first = at;
      network = entry.network;
    }
  }
  if (!network.empty()) return std::string(network);
  return contains(text, "connectx") || contains(text, "mlx5") ? "infiniband" : "unknown";
}

Result<MeasuredMachine> machine_of(const traces::CollectiveLog& log, UseProfile use) {
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
  } else {
    take_nics(machine, log, *family);
    take_transport(machine);
  }
  if (family->name == "a100-pcie") {
    machine.overrides.push_back(fmt::format("cluster.node.gpus={}", machine.gpus_per_host));
  }
  if (const auto gpus = parse_number_of(log.fact("gpus_per_process"))) machine.gpus_per_process = std::max(*gpus, 1);
  take_library(machine, log);
  const auto machines = read_machines();
  if (!machines) return tl::unexpected(machines.error());
  const ListedMachine* const listed = find_machine(*machines, log, family->name);
  const auto timing = timing_of(log, listed);
  if (!timing) return tl::unexpected(timing.error());
  if (*timing == CallTiming::kAlonePyTorch) machine.alone = kPyTorchCall;
  if (listed != nullptr) take_listed(machine, log, *listed, use);
  assume_processes(machine, log, *family);
  if (machine.profile.empty()) assume_old_library(machine, log, *family);
  return machine;
}

}  // namespace ringwright::validation
