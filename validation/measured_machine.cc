#include "validation/measured_machine.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <initializer_list>
#include <optional>

#include <fmt/format.h>

#include "configs/catalogue.h"
#include "configs/scenario.h"
#include "core/base/text.h"
#include "validation/machine_list.h"

namespace ringwright::validation {
namespace {

using namespace ringwright::literals;

struct GpuFamily {
  std::string_view word;  // in the log's name of the GPU, small letters
  std::string_view name;
  std::string_view node;
  int gpus = 8;  // of that node
  // What NCCL plans with, of the nominal rate of its NVLink or xGMI links (graph/topo.h: 20 of 25 GB/s a lane until
  // Ampere, 20.6 for Hopper, 40.1 of 50 for Blackwell; RCCL: 48 of 64 for MI300). Empty without such links.
  std::string_view link_efficiency;
};

// Of a NIC: 24 of 25 GB/s, 48 of 50 (NVIDIA/nccl-tests, issue 119; nccl, issue 212).
constexpr std::string_view kNicEfficiency = "96%";

// The first that fits: longer names before those that they contain.
constexpr std::array kFamilies = {
    GpuFamily{"gh200", "gh200", "gh200-x4", 4, "82.4%"},    GpuFamily{"gb200", "gb200", "gb200-nvl72", 72, "80.2%"},
    GpuFamily{"b200", "b200", "dgx-b200", 8, "80.2%"},      GpuFamily{"h200", "h200", "hgx-h200", 8, "82.4%"},
    GpuFamily{"h100", "h100", "dgx-h100", 8, "82.4%"},      GpuFamily{"a100-pcie", "a100-pcie", "a100-pcie", 4},
    GpuFamily{"a100 pcie", "a100-pcie", "a100-pcie", 4},    GpuFamily{"a100", "a100", "dgx-a100", 8, "80%"},
    GpuFamily{"v100", "v100", "dgx1-v100", 8, "80%"},       GpuFamily{"mi300x", "mi300x", "mi300x-8gpu", 8, "75%"},
    GpuFamily{"mi325x", "mi325x", "mi325x-8gpu", 8, "75%"}, GpuFamily{"mi355x", "mi355x", "mi355x-8gpu", 8, "75%"},
};

// Boards of four GPUs without an NVSwitch.
constexpr std::array kBoardsOfFour = {GpuFamily{"a100", "a100", "a100-x4", 4, "80%"},
                                      GpuFamily{"v100", "v100", "v100-x4", 4, "80%"}};

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

// The number that stands before `unit`: 4 of "4 x HDR 200 Gb/s" for "x ", 200 for "Gb/s".
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
    machine.notes.push_back("the log does not tell its NICs; those of the node " + machine.node + " are assumed");
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

// What is known of the machine that the log was taken on. There is no profile of another machine: what machines of one GPU
// have in common are the values of the class, and networks of one kind differ by more.
void take_listed(MeasuredMachine& machine, const traces::CollectiveLog& log, const ListedMachine& listed, UseProfile use) {
  if (listed.gpus_per_process && !machine.gpus_per_process)
    machine.gpus_per_process = std::min(*listed.gpus_per_process, machine.gpus_per_host);
  machine.overrides.insert(machine.overrides.end(), listed.settings.begin(), listed.settings.end());
  const auto names = preset_names(configs::load_options({}), "profiles");
  if (use == UseProfile::kNo || std::ranges::find(names, listed.name) == names.end()) return;
  machine.profile = listed.name;
  machine.fitted_on = is_fitted_on(listed, log);
}

// What PyTorch's way to the library takes of a call that is timed alone: Python, c10d, events between streams. On one host of
// eight H200 all-reduces through PyTorch took 36.6, 38.0, 39.1, 41.7, 43.5 and 50.9 us (8 B to 1 MiB) one at a time on an
// idle device and 15.2, 17.9, 18.8, 20.9, 21.4 and 27.7 queued behind others: 21.1 us more in the middle (20.1 to 23.2), and
// nccl-tests agrees with the queued ones within 1 us (measured: stas00/ml-engineering, network/benchmarks/README.md, 2026).
constexpr Duration kPyTorchCall = 21_us;

Result<CallTiming> timing_of(const traces::CollectiveLog& log, const ListedMachine* listed) {
  const std::string told = log.fact("timing");
  if (told.empty()) return listed != nullptr ? listed->timing : CallTiming::kInARow;
  if (const auto timing = parse_timing(told)) return *timing;
  return tl::unexpected(failure("E243", fmt::format("'{}' is no way to time calls", told), {.file = log.file},
                                "write '# timing: in a row' or '# timing: alone PyTorch', or leave the line out"));
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// Versions before 2.14 hand every channel its work by itself: the host writes it, the channel's block fetches it from host
// memory. Logs of one host with A100 that do not tell the version are of that time; those of two hosts (OCI, AKS) show
// nothing of it.
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

// What each further channel costs then. On the device, calibrated on machines of the class: 1.5 and 1.8 us with NCCL 2.8
// (ABCI's V100 and A100), 1.8 to 2.2 us on A100 whose logs do not tell the version, next to nothing with 2.20 and later.
// On the host 0.2 us for each GPU: with eight A100 in one process five operations, all-reduce to reduce, take 34 us with
// one channel and 1.6 us more with each further one alike (SuperBench, 64 KiB to 1 MiB).
void take_work_by_channel(MeasuredMachine& machine, const traces::CollectiveLog& log, const GpuFamily& family) {
  if (!works_by_channel(log, family)) return;
  const std::string_view device = log.version_of_library.empty() ? "1.9us" : "1.6us";
  machine.overrides.insert(machine.overrides.begin(), {fmt::format("comm.costs.launch_channel={}", device),
                                                       std::string("comm.costs.host.channel=0.2us")});
}

// One host with eight GPUs at a switch. Few such logs tell how many GPUs a thread drives, and most were taken with one
// thread for several: a call takes 14 us there (geometric mean of four machines with H100 and H200, which lie between 7
// and 20). What a primitive with Simple takes beyond its bytes is 3.5 us (seven machines, 2 to 5), not 1.5 as between
// two GPUs.
void take_values_of_switched_hosts(MeasuredMachine& machine, const GpuFamily& family) {
  if (!is_one_of(family.name, {"a100", "h100", "h200", "b200"})) return;
  if (machine.hosts > 1 || machine.gpus_per_host != 8) return;
  machine.overrides.insert(machine.overrides.begin(), "comm.costs.simple.primitive=3.5us");
  if (!machine.gpus_per_process && family.name != "a100")
    machine.overrides.insert(machine.overrides.begin(), "comm.costs.launch=14us");
}

// Without a profile links carry what the library's authors plan with.
void take_class_values(MeasuredMachine& machine, const traces::CollectiveLog& log, const GpuFamily& family) {
  const auto set = [&](std::string_view key, std::string_view value) {
    machine.overrides.insert(machine.overrides.begin(), fmt::format("cluster.node.{}.efficiency={}", key, value));
  };
  if (!family.link_efficiency.empty()) set("nvlink", family.link_efficiency);
  if (machine.network != "none") set("nic", kNicEfficiency);
  take_work_by_channel(machine, log, family);
  take_values_of_switched_hosts(machine, family);
  if (machine.network == "tcp") {
    // A message goes through the sockets of both hosts: some 30 us one way between hosts of a cloud (assumed).
    machine.overrides.insert(machine.overrides.begin(),
                             {"comm.costs.network.post=20us", "comm.costs.network.proxy=10us"});
  }
  if (machine.network != "slingshot") return;
  // libfabric's provider for Slingshot matches in software (FI_CXI_RX_MATCH_MODE). Up to FI_CXI_RDZV_THRESHOLD and
  // FI_CXI_RDZV_GET_MIN, 16384 and 2049 bytes unless they are set, messages come to its own memory, and are copied to the
  // GPU; larger ones it fetches. From 4 KiB on that copy is a call of the driver, and LL takes 8 us more a crossing on 2 to
  // 32 hosts of Alps; 2 us for what is fetched are those of its rings. Its NIC sends a process's messages one after another
  // (of trees with chunks of 512 KiB two at a time). All calibrated.
  machine.overrides.insert(machine.overrides.begin(),
                           {"comm.costs.network.eager=18433B", "comm.costs.network.rendezvous=2us",
                            "comm.costs.network.at_once=2", "comm.costs.network.matched.own_copy=4KiB",
                            "comm.costs.network.matched.copy_call=8us"});
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

Result<MeasuredMachine> machine_of(const traces::CollectiveLog& log, UseProfile use) {
  const auto refuse = [&](std::string message) {
    return tl::unexpected(failure("E240", std::move(message), {.file = log.file},
                                  "describe the machine in a file and name it with --cluster"));
  };
  const auto family = family_of(log);
  if (!family) return refuse(fmt::format("the GPU '{}' of '{}' is none of the shipped nodes'", log.gpu, log.file));
  if (log.ranks < 2) return refuse(fmt::format("'{}' does not tell how many ranks took part", log.file));
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
  if (machine.profile.empty()) take_class_values(machine, log, *family);
  return machine;
}

}  // namespace ringwright::validation
