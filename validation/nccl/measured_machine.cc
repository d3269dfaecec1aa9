#include "validation/nccl/measured_machine.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "configs/scenario/catalogue.h"
#include "configs/scenario/nccl_host.h"
#include "configs/scenario/scenario.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "traces/nccl_tests/run_options.h"
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
constexpr std::array kFamilies = {
    GpuFamily{"gh200", "gh200", "gh200-x4", 4},   GpuFamily{"gb200", "gb200", "gb200-nvl72", 72},
    GpuFamily{"b200", "b200", "dgx-b200"},        GpuFamily{"h200", "h200", "hgx-h200"},
    GpuFamily{"h100", "h100", "dgx-h100"},        GpuFamily{"h800", "h800", "hgx-h800"},
    GpuFamily{"a100", "a100", "dgx-a100"},        GpuFamily{"v100", "v100", "dgx1-v100"},
    GpuFamily{"mi300x", "mi300x", "mi300x-8gpu"}, GpuFamily{"mi325x", "mi325x", "mi325x-8gpu"},
    GpuFamily{"mi355x", "mi355x", "mi355x-8gpu"}};

// Cards in PCIe slots, of which hosts have as many as their makers choose. Others that have shipped nodes on boards are
// on no such board. NVLink bridges join cards next to each other, where there are any.
struct CardFamily : GpuFamily {
  int lanes = 0;    // of NVLink, of a card
  int bridged = 1;  // cards that a bridge joins
};
constexpr int kMostCards = 16;
constexpr std::array kCards = {CardFamily{{"a100", "a100-pcie", "a100-pcie", kMostCards}},
                               CardFamily{{"h100 pcie", "h100-pcie", "h100-pcie", kMostCards}, 12, 2},
                               CardFamily{{"h100 nvl", "h100-nvl", "h100-nvl", kMostCards}, 12, 2},
                               CardFamily{{"h200 nvl", "h200-nvl", "h200-nvl", kMostCards}, 18, 4},
                               CardFamily{{"l40s", "l40s", "l40s-pcie", kMostCards}},
                               CardFamily{{"a10", "a10-pcie", "a10-pcie", kMostCards}}};

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

// "NVIDIA A100 80GB PCIe", "A100-PCIE-40GB", "NVIDIA H100 NVL"; L40S and A10 are cards always.
bool is_card(std::string_view gpu) {
  return contains(gpu, "pcie") || gpu.ends_with(" nvl") || contains(gpu, " nvl ") || contains(gpu, "l40s") ||
         gpu == "a10" || gpu.ends_with(" a10");
}

template <class Families>
auto find_family(const Families& families, std::string_view gpu) -> std::optional<typename Families::value_type> {
  const auto found =
      std::ranges::find_if(families, [&](const GpuFamily& family) { return contains(gpu, family.word); });
  return found == families.end() ? std::nullopt : std::optional(*found);
}

// As the log counts them, with a bridge on every group of neighbours unless the log states that there is no NVLink.
void take_cards(MeasuredMachine& machine, const traces::CollectiveLog& log, const CardFamily& card) {
  const int cards = machine.gpus_per_host;
  machine.overrides.push_back(fmt::format("cluster.node.gpus={}", cards));
  if (card.lanes == 0) return;
  const std::string fabric = small_letters(log.fact("intra_fabric"));
  std::vector<std::string> mesh;
  for (int a = 0; a < cards; ++a) {
    const int first = a / card.bridged * card.bridged;
    const int end = std::min(first + card.bridged, cards);
    for (int b = a + 1; b < end; ++b) mesh.push_back(fmt::format("\"{}-{}:{}\"", a, b, card.lanes / (end - first - 1)));
  }
  if (mesh.empty() || contains(fabric, "no nvlink")) {
    machine.overrides.emplace_back("cluster.node.nvlink.kind=none");
    return;
  }
  machine.overrides.push_back(fmt::format("cluster.node.nvlink.mesh=[{}]", join(mesh, ", ")));
  if (!fabric.empty()) return;
  machine.notes.push_back(
      fmt::format("every {} cards are assumed to be joined by an NVLink bridge; --set cluster.node.nvlink.kind=none "
                  "where they are not",
                  card.bridged));
}

std::optional<GpuFamily> family_of(const traces::CollectiveLog& log) {
  const std::string gpu = small_letters(log.gpu);
  if (is_card(gpu)) {
    const auto card = find_family(kCards, gpu);
    return card ? std::optional<GpuFamily>(*card) : std::nullopt;
  }
  const std::optional<GpuFamily> found = find_family(kFamilies, gpu);
  if (!found || log.gpus_per_node != 4 || has_nvswitch(log.fact("intra_fabric"))) return found;
  for (const GpuFamily& board : kBoardsOfFour) {
    if (board.name == found->name) return board;
  }
  return found;
}

// Four GPUs may also be half of a host with NVSwitches.
void note_board_of_four(MeasuredMachine& machine, const traces::CollectiveLog& log, const GpuFamily& family) {
  const bool stated = !log.fact("intra_fabric").empty();
  const auto whole = find_family(kFamilies, family.word);
  if (stated || family.gpus != 4 || !whole || whole->node == family.node || is_card(small_letters(log.gpu))) return;
  machine.notes.push_back(
      fmt::format("4 GPUs a host are taken for a board of four without NVSwitch; --node {} where "
                  "they are part of such a host",
                  whole->node));
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

std::vector<std::string> library_settings(const traces::CollectiveLog& log) {
  std::vector<std::string> settings;
  if (log.fact("library").starts_with("RCCL") || contains(small_letters(log.gpu), "mi3")) return settings;
  if (!log.version_of_library.empty()) settings.push_back("comm.nccl_version=" + json_text(log.version_of_library));
  const std::vector<std::string> acting = configs::variables_that_act();
  for (const traces::LibraryVariable& variable : traces::variables_in_list(log.fact("env"))) {
    if (std::ranges::find(acting, variable.name) == acting.end()) continue;
    settings.push_back(fmt::format("comm.env.{}={}", variable.name, json_text(variable.value)));
  }
  return settings;
}

std::optional<int> threads_gpus(const traces::CollectiveLog& log, int gpus_per_host) {
  const auto gpus = parse_number_of(log.fact("gpus_per_process"));
  if (!gpus) return std::nullopt;
  return std::clamp(*gpus, 1, gpus_per_host);
}

Result<MeasuredMachine> machine_of(const traces::CollectiveLog& log, UseProfile use) {
  const auto refuse = [&](std::string message) {
    return tl::unexpected(failure("E240", std::move(message), {.file = log.file},
                                  "name the machine with --cluster: a shipped node, or a file that describes it"));
  };
  const auto family = family_of(log);
  if (log.gpu.empty()) return refuse(fmt::format("'{}' does not name its GPU", log.file));
  if (!family) return refuse(fmt::format("the GPU '{}' of '{}' is none of the shipped nodes'", log.gpu, log.file));
  if (const std::string& other = log.fact("other_gpu"); !other.empty()) {
    return refuse(fmt::format("'{}' has GPUs of several kinds: '{}' and '{}'", log.file, log.gpu, other));
  }
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
  if (machine.hosts * machine.gpus_per_host != log.ranks) {
    return refuse(
        fmt::format("the {} ranks of '{}' do not spread evenly over {} hosts", log.ranks, log.file, machine.hosts));
  }
  note_board_of_four(machine, log, *family);
  if (machine.hosts == 1) {
    machine.network = "none";
  } else {
    take_nics(machine, log, *family);
    take_transport(machine);
  }
  const std::string gpu = small_letters(log.gpu);
  if (const auto card = is_card(gpu) ? find_family(kCards, gpu) : std::nullopt) take_cards(machine, log, *card);
  machine.gpus_per_process = threads_gpus(log, machine.gpus_per_host);
  const std::vector<std::string> library = library_settings(log);
  machine.overrides.insert(machine.overrides.end(), library.begin(), library.end());
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
